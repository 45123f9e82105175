import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { newId } from "../../src/domain/ids/Id.ts"
import { signTestEvent } from "../../src/layers/payments/TestProvider.ts"
import { aCartWith, aProduct, checkOut } from "../support/Purchase.ts"
import { type Answer, api, asAdmin, at, type TestApp, testAppLayer } from "../support/TestApp.ts"
import { waitFor } from "../support/waitFor.ts"
import { assertTakenBack, onDatabase } from "./CheckoutFixtures.ts"
import { scriptedProvider, silence } from "./ScriptedProvider.ts"

const provider = scriptedProvider("scripted")

const withProvider = layer(testAppLayer({ payments: { adapters: [provider.adapter] } }), {
  excludeTestServices: true,
  timeout: "60 seconds"
})

/** A checkout that waits for its shopper, as the storefront sees it. */
const waiting = Effect.fnUntraced(function*(token: string) {
  const entityId = yield* aProduct()
  const cart = yield* aCartWith(entityId)
  const made = yield* checkOut(cart, { paymentMethodId: "scripted", paymentMethodToken: token })
  assert.deepStrictEqual([made.status, made.at("data.status"), made.at("data.amountCaptured")], [201, "pending", null])
  assert.strictEqual(provider.callsOf(token, "capture"), 0)
  return { entityId, cartId: cart.id, made, order: made.text("data.id") }
})

/** The provider reports that the payment of an order can be captured. */
const capturable = (made: Answer, id = newId()) => {
  const body = JSON.stringify({
    id,
    type: "payment_intent.amount_capturable_updated",
    data: {
      object: {
        id: made.text("data.paymentIntentId"),
        amount: made.number("data.grandTotal"),
        currency: "usd",
        metadata: { orderId: made.text("data.id"), organizationId: "org_default" }
      }
    }
  })
  const headers = { "x-payment-signature": signTestEvent("scripted", body) }
  return api("POST", "/api/payments/webhook", { body, headers })
}

const read = (order: string) => api("GET", `/api/orders/${order}`, { as: asAdmin })

/** Waits until an order has this value there. */
const until = Effect.fnUntraced(function*(order: string, path: string, value: unknown) {
  const run = Effect.runPromiseWith(yield* Effect.context<TestApp>())
  yield* Effect.promise(() =>
    waitFor(`${path} to be ${String(value)}`, async () => (await run(read(order))).at(path) === value, 20_000)
  )
})

withProvider("a payment that its shopper has to confirm", (it) => {
  it.effect("is captured once the provider says that it can be, and once however often it says so", () =>
    Effect.gen(function*() {
      const { made, order } = yield* waiting("asks_1")
      provider.confirm("asks_1")
      const id = newId()
      assert.deepStrictEqual((yield* capturable(made, id)).at("data"), { received: true })
      yield* until(order, "data.amountCaptured", 1_000)
      assert.deepStrictEqual((yield* capturable(made, id)).at("data"), { received: true, duplicate: true })
      assert.deepStrictEqual((yield* capturable(made)).at("data"), { received: true })
      assert.strictEqual(provider.callsOf("asks_1", "capture"), 1)
      assert.strictEqual(provider.paymentOf("asks_1")?.captured, 1_000)
    }))

  it.effect("is captured also when the process died that heard of it first", () =>
    Effect.gen(function*() {
      const { made, order } = yield* waiting("asks_again")
      provider.confirm("asks_again")
      const id = newId()
      yield* onDatabase((sql) =>
        sql`insert into payment_events (organization_id, provider, event_id, type, order_id)
          values ('org_default', 'scripted', ${id}, 'payment_intent.amount_capturable_updated', ${order}::uuid)`
      )
      assert.deepStrictEqual((yield* capturable(made, id)).at("data"), { received: true, duplicate: true })
      yield* until(order, "data.amountCaptured", 1_000)
    }))

  it.effect("is captured also when the provider is silent at first", () =>
    Effect.gen(function*() {
      const { made, order } = yield* waiting("asks_silent")
      provider.confirm("asks_silent")
      provider.obstruct("asks_silent", (operation, nth) => operation === "capture" && nth < 3 ? silence : Effect.void)
      yield* capturable(made)
      yield* until(order, "data.amountCaptured", 1_000)
    }))

  it.effect("and cannot be captured after all: the order is cancelled, stock, cart and money go back", () =>
    Effect.gen(function*() {
      const { cartId, entityId, made, order } = yield* waiting("asks_refused")
      // Not confirmed: the provider refuses to capture.
      yield* capturable(made)
      yield* until(order, "data.status", "cancelled")
      yield* assertTakenBack(cartId, entityId)
      yield* Effect.promise(() =>
        waitFor("the payment to be voided", () => provider.paymentOf("asks_refused")?.status === "canceled")
      )
    }))

  it.effect("is left alone when its order was cancelled before", () =>
    Effect.gen(function*() {
      const { made, order } = yield* waiting("asks_late")
      const answer = yield* api("PATCH", `/api/orders/${order}/status`, { as: asAdmin, body: { status: "cancelled" } })
      assert.strictEqual(at(answer.body, "data.status"), "cancelled")
      assert.strictEqual((yield* capturable(made)).status, 200)
      assert.strictEqual(provider.callsOf("asks_late", "capture"), 0)
    }))
})
