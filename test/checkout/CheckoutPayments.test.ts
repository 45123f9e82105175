import { assert, describe, layer } from "@effect/vitest"
import { Effect } from "effect"
import { aCartWith, addTo, aProduct, checkOut } from "../support/Purchase.ts"
import { api, asAdmin, live, testAppLayer } from "../support/TestApp.ts"
import { aFilledCart, assertNothingLeft, checkoutFailed, stockOf } from "./CheckoutFixtures.ts"
import { scriptedProvider, silence } from "./ScriptedProvider.ts"

const provider = scriptedProvider()

/** The checkout body that pays with one of the provider's instruments. */
const by = (paymentMethodToken: string) => ({ paymentMethodId: "scripted", paymentMethodToken })

layer(testAppLayer({ payments: { adapters: [provider.adapter] } }), live)("payment at checkout", (it) => {
  it.effect("that is declined leaves nothing behind, and the cart can be paid in another way", () =>
    Effect.gen(function*() {
      const { entityId, ...cart } = yield* aFilledCart(2)
      const declined = yield* checkOut(cart, { paymentMethodId: "test_decline" })
      checkoutFailed(declined, /^The payment was refused\. ./)
      assert.strictEqual(declined.at("error.details.reason"), "payment_declined")
      assert.include(declined.text("error.message"), declined.text("error.details.decline"))
      yield* assertNothingLeft(cart.id, entityId)
      for (const paymentMethodId of ["test_capture_fail", "test_decline", "test_capture_fail"]) {
        checkoutFailed(yield* checkOut(cart, { paymentMethodId }))
      }
      assert.strictEqual((yield* addTo(cart, entityId)).at("data.quantity"), 3)
      assert.strictEqual((yield* checkOut(cart)).number("data.grandTotal"), 3_000)
    }))

  describe("by a provider of the deployment", () => {
    it.effect("is authorized once and captured once in full, by key and with the order's ids", () =>
      Effect.gen(function*() {
        const cart = yield* aFilledCart(3, { price: 1_234 })
        const made = yield* checkOut(cart, by("card_ok"))
        assert.deepStrictEqual([made.status, made.at("data.amountCaptured")], [201, 3_702])
        assert.notProperty(made.at("data"), "paymentClientSecret")
        const calls = provider.callsFor("card_ok")
        assert.deepStrictEqual(calls.map(({ amount, operation }) => [operation, amount]), [
          ["authorize", 3_702],
          ["capture", 3_702]
        ])
        assert.isTrue(calls.every(({ key }) => key.length > 7))
        const orderId = made.text("data.id")
        const request = calls[0]?.request
        assert.deepStrictEqual([request?.orderId, request?.currency], [orderId, "USD"])
        assert.include(request?.metadata, { orderId, organizationId: "org_default", cartId: cart.id })
      }))

    it.effect("takes any other payment method as its instrument's token", () =>
      Effect.gen(function*() {
        const made = yield* checkOut(yield* aFilledCart(), { paymentMethodId: "pm_card_visa" })
        assert.deepStrictEqual([made.status, made.at("data.amountCaptured")], [201, 1_000])
      }))

    it.effect("that declines is neither captured nor cancelled", () =>
      Effect.gen(function*() {
        const cart = yield* aFilledCart()
        checkoutFailed(yield* checkOut(cart, by("declined_1")), /^The payment was refused\. .*Refused\./)
        assert.deepStrictEqual(provider.operationsFor("declined_1"), ["authorize"])
        yield* assertNothingLeft(cart.id, cart.entityId)
      }))

    it.effect("that cannot capture is asked to cancel, never to refund", () =>
      Effect.gen(function*() {
        const cart = yield* aFilledCart()
        checkoutFailed(yield* checkOut(cart, by("broke_1")))
        assert.deepStrictEqual([...new Set(provider.operationsFor("broke_1"))], ["authorize", "capture", "cancel"])
        assert.isTrue(provider.callsFor("broke_1").every(({ key }) => key !== ""))
        assert.strictEqual((yield* stockOf(cart.entityId)).reserved, 0)
        assert.strictEqual((yield* checkOut(cart, by("card_second"))).status, 201)
      }))

    it.effect("that gives no answer is asked again with the same key", () =>
      Effect.gen(function*() {
        provider.obstruct("flaky", (operation, nth) => operation === "capture" && nth === 1 ? silence : Effect.void)
        const made = yield* checkOut(yield* aFilledCart(), by("flaky"))
        assert.deepStrictEqual([made.status, made.at("data.amountCaptured")], [201, 1_000])
        const captures = provider.callsFor("flaky", "capture")
        assert.deepStrictEqual([captures.length, new Set(captures.map(({ key }) => key)).size], [2, 1])
        assert.notInclude(provider.operationsFor("flaky"), "cancel")
      }))

    it.effect("that waits for the shopper leaves a pending order with the client secret and no capture", () =>
      Effect.gen(function*() {
        const cart = yield* aFilledCart()
        const made = yield* checkOut(cart, by("asks_1"))
        assert.include(made.at("data"), { status: "pending", amountCaptured: null })
        assert.match(made.text("data.paymentClientSecret"), /^secret_pay_/)
        assert.deepStrictEqual(provider.operationsFor("asks_1"), ["authorize"])
        assert.strictEqual((yield* stockOf(cart.entityId)).reserved, 1)
      }))

    it.effect("is never left with an open authorization when the stock is gone", () =>
      Effect.gen(function*() {
        const entityId = yield* aProduct({ stock: 2 })
        const carts = yield* Effect.replicateEffect(aCartWith(entityId), 6)
        const answers = yield* Effect.forEach(carts, (cart, index) => checkOut(cart, by(`race_${index}`)), {
          concurrency: "unbounded"
        })
        assert.strictEqual(answers.filter(({ status }) => status === 201).length, 2)
        answers.forEach(({ status }, index) => {
          const operations = provider.operationsFor(`race_${index}`)
          if (status === 201) return assert.deepStrictEqual(operations, ["authorize", "capture"])
          assert.notInclude(operations, "capture")
          assert.strictEqual(operations.includes("authorize"), operations.includes("cancel"))
        })
      }))

    it.effect("is refunded when the order is cancelled", () =>
      Effect.gen(function*() {
        const made = yield* checkOut(yield* aFilledCart(), by("card_refunded"))
        const path = `/api/orders/${made.text("data.id")}/status`
        const cancelled = yield* api("PATCH", path, { as: asAdmin, body: { status: "cancelled" } })
        assert.deepStrictEqual([cancelled.status, cancelled.at("data.status")], [200, "cancelled"])
        assert.deepStrictEqual(provider.callsFor("card_refunded", "refund").map(({ amount }) => amount), [1_000])
      }))
  })
})
