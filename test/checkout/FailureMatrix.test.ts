import { assert, describe, layer } from "@effect/vitest"
import { Effect } from "effect"
import { Stripe, stripeStore } from "../payments/StripeStore.ts"
import { audit } from "../support/Audit.ts"
import { aCartWith, aProduct, aWarehouse, checkOut, putInto } from "../support/Purchase.ts"
import { api, asAdmin, live, TestApp } from "../support/TestApp.ts"
import { aFilledCart, assertTakenBack, checkoutFailed, ordersFrom, stockOf } from "./CheckoutFixtures.ts"

/** Both kinds of providers, with what pays and what is authorized and never paid. */
const providers = [
  {
    name: "the test provider",
    pays: { paymentMethodId: "test" },
    unpaid: { paymentMethodId: "test_capture_fail" }
  },
  {
    name: "Stripe",
    pays: { paymentMethodId: "stripe", paymentMethodToken: "pm_card" },
    unpaid: { paymentMethodId: "stripe", paymentMethodToken: "pm_unpaid" }
  }
]

let codes = 0

/** A code that takes ten percent off, so many times in all. */
const aCode = Effect.fnUntraced(function*(usageLimitTotal: number) {
  const code = `MATRIX${++codes}`
  const body = { code, name: code, type: "percentage_off_order", value: 10, usageLimitTotal }
  const made = yield* api("POST", "/api/promotions", { as: asAdmin, body })
  return { code, id: made.text("data.id") }
})

/** Payments at Stripe that hold or keep money, by the cart they were made for. */
const openFor = (carts: ReadonlyArray<{ readonly id: string }>) =>
  Effect.map(
    Stripe,
    ({ ledger }) =>
      [...ledger.intents.values()].filter(({ metadata, status }) =>
        status !== "canceled" && carts.some(({ id }) => id === metadata["cartId"])
      )
  )

layer(stripeStore(), live)("the failure matrix of a checkout", (it) => {
  for (const { name, pays, unpaid } of providers) {
    describe(`with ${name}`, () => {
      it.effect("sells as many orders as units when the stock runs out, and leaves nothing of the others", () =>
        Effect.gen(function*() {
          const entityId = yield* aProduct({ stock: 2 })
          const carts = yield* Effect.replicateEffect(aCartWith(entityId), 6)
          const answers = yield* Effect.forEach(carts, (cart) => checkOut(cart, pays), { concurrency: "unbounded" })
          assert.deepStrictEqual(answers.map(({ status }) => status).sort(), [201, 201, 422, 422, 422, 422])
          for (const answer of answers.filter(({ status }) => status === 422)) {
            checkoutFailed(answer, /Insufficient stock/)
          }
          const refused = carts.filter((_, n) => answers[n]?.status === 422)
          for (const { id } of refused) {
            assert.deepStrictEqual(yield* ordersFrom(id), [])
            const now = yield* api("GET", `/api/carts/${id}`, { as: asAdmin })
            assert.strictEqual(now.at("data.status"), "active")
          }
          assert.deepStrictEqual(yield* openFor(refused), [])
          assert.deepStrictEqual(yield* stockOf(entityId), { onHand: 2, reserved: 2 })
        }))

      it.effect("cancels the order, voids the payment and frees stock, cart and code when a capture is declined", () =>
        Effect.gen(function*() {
          const { entityId, ...cart } = yield* aFilledCart()
          const { code, id } = yield* aCode(1)
          checkoutFailed(
            yield* checkOut(cart, { ...unpaid, promotionCodes: [code] }),
            /The payment could not be captured/
          )
          yield* assertTakenBack(cart.id, entityId)
          assert.deepStrictEqual(yield* openFor([cart]), [])
          const promotion = yield* api("PATCH", `/api/promotions/${id}`, { as: asAdmin, body: {} })
          assert.strictEqual(promotion.at("data.usedCount"), 0)
          const second = yield* checkOut(cart, { ...pays, promotionCodes: [code] })
          assert.deepStrictEqual([second.status, second.at("data.amountCaptured")], [201, 900])
        }))

      it.effect("releases the units of this checkout only when the capture of a checkout by staff is declined", () =>
        Effect.gen(function*() {
          const entityId = yield* aProduct({ stock: 5 })
          assert.strictEqual((yield* checkOut(yield* aCartWith(entityId, 3), pays)).status, 201)
          const as = asAdmin
          const cartId = (yield* api("POST", "/api/carts", { as, body: { currency: "USD" } })).text("data.id")
          yield* api("POST", `/api/carts/${cartId}/items`, { as, body: { entityId, quantity: 2 } })
          const failed = yield* api("POST", "/api/checkout", { as, body: { cartId, currency: "USD", ...unpaid } })
          checkoutFailed(failed, /The payment could not be captured/)
          assert.deepStrictEqual(yield* stockOf(entityId), { onHand: 5, reserved: 3 })
          assert.deepStrictEqual(yield* openFor([{ id: cartId }]), [])
        }))

      it.effect("sells stock that is split over warehouses", () =>
        Effect.gen(function*() {
          const entityId = yield* aProduct({ stock: 1 })
          const warehouseId = yield* aWarehouse("SECOND")
          const body = { entityId, warehouseId, type: "restock", quantity: 5 }
          yield* api("POST", "/api/inventory/adjust", { as: asAdmin, body })
          assert.strictEqual((yield* checkOut(yield* aCartWith(entityId, 3), pays)).status, 201)
          assert.deepStrictEqual(yield* stockOf(entityId), { onHand: 6, reserved: 3 })
        }))

      it.effect("gives the last use of a code to one of six buyers at once, and leaves nothing of those refused", () =>
        Effect.gen(function*() {
          const entityId = yield* aProduct()
          const { code, id } = yield* aCode(1)
          const carts = yield* Effect.replicateEffect(aCartWith(entityId), 6)
          const body = { ...pays, promotionCodes: [code] }
          const answers = yield* Effect.forEach(carts, (cart) => checkOut(cart, body), { concurrency: "unbounded" })
          const sold = answers.filter(({ status }) => status === 201)
          assert.deepStrictEqual(answers.map(({ status }) => status).filter((one) => one !== 201 && one !== 422), [])
          assert.strictEqual(sold.filter((answer) => answer.at("data.discountTotal") === 100).length, 1)
          const refused = carts.filter((_, n) => answers[n]?.status === 422)
          assert.deepStrictEqual(yield* openFor(refused), [])
          for (const cart of refused) assert.deepStrictEqual(yield* ordersFrom(cart.id), [])
          assert.strictEqual((yield* stockOf(entityId)).reserved, sold.length)
          const promotion = yield* api("PATCH", `/api/promotions/${id}`, { as: asAdmin, body: {} })
          assert.strictEqual(promotion.at("data.usedCount"), 1)
        }))
    })
  }

  it.effect("leaves books that add up", () =>
    Effect.gen(function*() {
      const cart = yield* aFilledCart()
      yield* putInto(cart, yield* aProduct())
      assert.strictEqual((yield* checkOut(cart)).status, 201)
      yield* audit((yield* TestApp).databaseUrl)
    }))
})
