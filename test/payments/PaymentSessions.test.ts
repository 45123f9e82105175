import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { checkoutFailed, refused } from "../checkout/CheckoutFixtures.ts"
import { aCartWith, aProduct, checkOut } from "../support/Purchase.ts"
import { api, asAdmin, live } from "../support/TestApp.ts"
import { report, Stripe, stripeStore } from "./StripeStore.ts"

type Cart = Effect.Success<ReturnType<typeof aCartWith>>

const open = ({ headers, id }: Cart, provider = "stripe") =>
  api("POST", `/api/carts/${id}/payment-session`, { headers, body: { provider } })

/** A guest's cart of one unit, whose wallet has confirmed the payment. */
const confirmed = Effect.gen(function*() {
  const cart = yield* aCartWith(yield* aProduct({ price: 1_000 }))
  const session = yield* open(cart)
  const token = session.text("data.paymentMethodToken")
  const intent = (yield* Stripe).ledger.confirm(token)
  return { cart, intent, session, token }
})

const pay = (cart: Cart, token: string) => checkOut(cart, { paymentMethodId: "stripe", paymentMethodToken: token })

layer(stripeStore({ publishableKey: "pk_test_shown" }), live)(
  "payments that a wallet confirms before the checkout",
  (it) => {
    it.effect("are opened for what the cart costs, with what a page needs", () =>
      Effect.gen(function*() {
        const { intent, session } = yield* confirmed
        assert.deepStrictEqual(session.at("data"), {
          provider: "stripe",
          paymentMethodToken: intent.id,
          clientSecret: intent.client_secret,
          publishableKey: "pk_test_shown",
          amount: 1_000,
          currency: "USD"
        })
      }))

    it.effect("pay the order of their cart, and are captured once", () =>
      Effect.gen(function*() {
        const { cart, intent, token } = yield* confirmed
        const made = yield* pay(cart, token)
        assert.strictEqual(made.status, 201, JSON.stringify(made.body))
        assert.deepInclude(made.at("data"), { paymentIntentId: token, amountCaptured: 1_000 })
        assert.deepInclude(intent, { status: "succeeded", amount_received: 1_000 })
        assert.strictEqual(intent.metadata["orderId"], made.at("data.id"))
        yield* report("succeeded", intent)
        const order = yield* api("GET", `/api/orders/${made.text("data.id")}`, { as: asAdmin })
        assert.strictEqual(order.at("data.status"), "confirmed")
      }))

    it.effect("are voided when the total has changed, and pay nothing", () =>
      Effect.gen(function*() {
        const { cart, intent, token } = yield* confirmed
        const more = { entityId: yield* aProduct({ price: 500 }), quantity: 1 }
        yield* api("POST", `/api/carts/${cart.id}/items`, { headers: cart.headers, body: more })
        checkoutFailed(yield* pay(cart, token), /The total has changed since the payment was confirmed/)
        assert.strictEqual(intent.status, "canceled")
        const again = yield* open(cart)
        assert.strictEqual(again.at("data.amount"), 1_500)
        const second = again.text("data.paymentMethodToken")
        ;(yield* Stripe).ledger.confirm(second)
        assert.strictEqual((yield* pay(cart, second)).at("data.amountCaptured"), 1_500)
      }))

    it.effect("are refused unconfirmed, from another cart, and twice, and pay once they are confirmed", () =>
      Effect.gen(function*() {
        const { cart, intent, token } = yield* confirmed
        const other = yield* aCartWith(yield* aProduct({ price: 1_000 }))
        const unconfirmed = (yield* open(other)).text("data.paymentMethodToken")
        const early = yield* pay(other, unconfirmed)
        checkoutFailed(early, /has not confirmed this payment yet/)
        assert.strictEqual(early.at("error.details.reason"), "payment_requires_action")
        checkoutFailed(yield* pay(other, token), /another cart/)
        assert.strictEqual(intent.status, "requires_capture")
        assert.strictEqual((yield* pay(cart, token)).status, 201)
        checkoutFailed(yield* pay(other, token), /another cart/)
        assert.strictEqual(intent.amount_received, 1_000)
        ;(yield* Stripe).ledger.confirm(unconfirmed)
        assert.strictEqual((yield* pay(other, unconfirmed)).at("data.amountCaptured"), 1_000)
      }))

    it.effect("that no order has adopted yet are no events of an order", () =>
      Effect.gen(function*() {
        const { intent } = yield* confirmed
        assert.strictEqual((yield* report("amount_capturable_updated", intent)).status, 200)
        assert.strictEqual(intent.status, "requires_capture")
      }))

    it.effect("are refused for a cart that costs nothing, cannot be bought or has ended, and by providers without them", () =>
      Effect.gen(function*() {
        const { calls } = yield* Stripe
        const before = calls.length
        const free = yield* aCartWith(yield* aProduct({ price: 0 }))
        checkoutFailed(yield* open(free), /nothing to pay/)
        const gone = yield* aProduct({ price: 1_000 })
        const closed = yield* aCartWith(gone)
        yield* api("PATCH", `/api/catalog/entities/${gone}`, { as: asAdmin, body: { status: "archived" } })
        checkoutFailed(yield* open(closed), /no longer available/)
        refused(yield* open(free, "nowhere"), 422, "VALIDATION_FAILED")
        assert.strictEqual(calls.length, before)
        const { cart, token } = yield* confirmed
        yield* pay(cart, token)
        assert.strictEqual((yield* open(cart)).status, 422)
        assert.strictEqual((yield* open({ ...cart, headers: { "x-cart-secret": "other" } })).status, 404)
      }))

    it.effect("can be tried with the test provider", () =>
      Effect.gen(function*() {
        const cart = yield* aCartWith(yield* aProduct({ price: 1_000 }))
        const token = (yield* open(cart, "test")).text("data.paymentMethodToken")
        const made = yield* checkOut(cart, { paymentMethodId: "test", paymentMethodToken: token })
        assert.deepInclude(made.at("data"), { paymentIntentId: token, amountCaptured: 1_000 })
      }))
  }
)
