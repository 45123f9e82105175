import { assert, describe, layer } from "@effect/vitest"
import { Effect } from "effect"
import { aCartWith, addTo, aProduct, checkOut } from "../support/Purchase.ts"
import { api, asAdmin, testAppLayer } from "../support/TestApp.ts"
import { assertNothingLeft, assertTakenBack, checkoutFailed, stockOf } from "./CheckoutFixtures.ts"
import { callsFor, operationsFor, recorder } from "./PaymentRecorder.ts"

const withRecorder = layer(testAppLayer({ payments: { adapters: [recorder] } }), {
  excludeTestServices: true,
  timeout: "60 seconds"
})

/** The checkout body that pays with one of the recorder's instruments. */
const by = (paymentMethodToken: string) => ({ paymentMethodId: "recorder", paymentMethodToken })

withRecorder("payment at checkout", (it) => {
  describe("built-in methods", () => {
    it.effect("a declined authorization is told, leaves nothing, and the cart can be paid otherwise", () =>
      Effect.gen(function*() {
        const entityId = yield* aProduct()
        const cart = yield* aCartWith(entityId, 2)
        checkoutFailed(yield* checkOut(cart, { paymentMethodId: "test_decline" }), /^Payment authorization failed: ./)
        yield* assertNothingLeft(cart.id, entityId)
        assert.strictEqual((yield* addTo(cart, entityId)).at("data.quantity"), 3)
        assert.strictEqual((yield* checkOut(cart)).number("data.grandTotal"), 3_000)
      }))

    it.effect("a failed capture leaves no living order, no reservation and a usable cart", () =>
      Effect.gen(function*() {
        const entityId = yield* aProduct({ stock: 5 })
        const cart = yield* aCartWith(entityId, 5)
        checkoutFailed(yield* checkOut(cart, { paymentMethodId: "test_capture_fail" }))
        yield* assertTakenBack(cart.id, entityId)
        assert.strictEqual((yield* checkOut(cart)).status, 201)
        assert.deepStrictEqual(yield* stockOf(entityId), { onHand: 5, reserved: 5 })
      }))

    it.effect("a failed capture of an administrator's checkout releases the stock once", () =>
      Effect.gen(function*() {
        const entityId = yield* aProduct({ stock: 10 })
        assert.strictEqual((yield* checkOut(yield* aCartWith(entityId, 3))).status, 201)
        const cart = yield* aCartWith(entityId, 2)
        const body = { cartId: cart.id, paymentMethodId: "test_capture_fail", currency: "USD" }
        checkoutFailed(yield* api("POST", "/api/checkout", { as: asAdmin, body }))
        assert.deepStrictEqual(yield* stockOf(entityId), { onHand: 10, reserved: 3 })
      }))

    it.effect("five failures one after the other do not use the cart up", () =>
      Effect.gen(function*() {
        const entityId = yield* aProduct({ stock: 1 })
        const cart = yield* aCartWith(entityId)
        for (const paymentMethodId of ["test_decline", "test_capture_fail", "test_decline", "test_capture_fail"]) {
          checkoutFailed(yield* checkOut(cart, { paymentMethodId }))
        }
        assert.strictEqual((yield* checkOut(cart)).status, 201)
      }))

    it.effect("an empty payment method is refused", () =>
      Effect.gen(function*() {
        const entityId = yield* aProduct()
        const cart = yield* aCartWith(entityId)
        assert.strictEqual((yield* checkOut(cart, { paymentMethodId: "" })).status, 422)
        yield* assertNothingLeft(cart.id, entityId)
      }))
  })

  describe("a provider of the deployment", () => {
    it.effect("is asked once to authorize and once to capture the total, by key and with the order's ids", () =>
      Effect.gen(function*() {
        const cart = yield* aCartWith(yield* aProduct({ price: 1_234 }), 3)
        const made = yield* checkOut(cart, by("card_ok"))
        assert.deepStrictEqual([made.status, made.at("data.amountCaptured")], [201, 3_702])
        assert.notProperty(made.at("data"), "paymentClientSecret")
        const [authorize, capture, ...more] = callsFor("card_ok")
        assert.deepStrictEqual(more, [])
        assert.deepStrictEqual([authorize?.operation, capture?.operation], ["authorize", "capture"])
        assert.deepStrictEqual([authorize?.amount, capture?.amount], [3_702, 3_702])
        assert.isAbove(authorize?.idempotencyKey.length ?? 0, 7)
        assert.isAbove(capture?.idempotencyKey.length ?? 0, 7)
        assert.strictEqual(authorize?.request?.orderId, made.text("data.id"))
        assert.strictEqual(authorize?.request?.currency, "USD")
        assert.include(authorize?.request?.metadata, {
          orderId: made.text("data.id"),
          organizationId: "org_default",
          cartId: cart.id
        })
      }))

    it.effect("takes any other payment method as its instrument's token", () =>
      Effect.gen(function*() {
        const made = yield* checkOut(yield* aCartWith(yield* aProduct()), { paymentMethodId: "pm_card_visa" })
        assert.strictEqual(made.status, 201)
        assert.strictEqual(made.at("data.amountCaptured"), 1_000)
      }))

    it.effect("that declines is not asked to capture or to cancel", () =>
      Effect.gen(function*() {
        const entityId = yield* aProduct()
        const cart = yield* aCartWith(entityId)
        checkoutFailed(
          yield* checkOut(cart, by("decline_1")),
          /^Payment authorization failed: .*The bank said no\./
        )
        assert.deepStrictEqual(operationsFor("decline_1"), ["authorize"])
        yield* assertNothingLeft(cart.id, entityId)
      }))

    it.effect("that cannot capture is asked to cancel, never to refund", () =>
      Effect.gen(function*() {
        const entityId = yield* aProduct()
        const cart = yield* aCartWith(entityId)
        checkoutFailed(yield* checkOut(cart, by("broke_1")))
        assert.deepStrictEqual([...new Set(operationsFor("broke_1"))], ["authorize", "capture", "cancel"])
        assert.isTrue(callsFor("broke_1").every(({ idempotencyKey }) => idempotencyKey !== ""))
        assert.strictEqual((yield* stockOf(entityId)).reserved, 0)
        assert.strictEqual((yield* checkOut(cart, by("card_second"))).status, 201)
      }))

    it.effect("that gives no answer is asked again with the same key", () =>
      Effect.gen(function*() {
        const made = yield* checkOut(yield* aCartWith(yield* aProduct()), by("flaky_1"))
        assert.deepStrictEqual([made.status, made.at("data.amountCaptured")], [201, 1_000])
        const captures = callsFor("flaky_1").filter(({ operation }) => operation === "capture")
        assert.strictEqual(captures.length, 2)
        assert.strictEqual(new Set(captures.map(({ idempotencyKey }) => idempotencyKey)).size, 1)
        assert.notInclude(operationsFor("flaky_1"), "cancel")
      }))

    it.effect("that wants the shopper to act leaves a pending order with the client secret and no capture", () =>
      Effect.gen(function*() {
        const entityId = yield* aProduct()
        const made = yield* checkOut(yield* aCartWith(entityId), by("3ds_1"))
        assert.deepStrictEqual(
          [made.status, made.at("data.status"), made.at("data.amountCaptured"), made.at("data.paymentClientSecret")],
          [201, "pending", null, "secret_3ds_1"]
        )
        assert.deepStrictEqual(operationsFor("3ds_1"), ["authorize"])
        assert.strictEqual((yield* stockOf(entityId)).reserved, 1)
      }))

    it.effect("is never left with an open authorization when the stock is gone", () =>
      Effect.gen(function*() {
        const entityId = yield* aProduct({ stock: 2 })
        const carts = yield* Effect.forEach([1, 2, 3, 4, 5, 6], () => aCartWith(entityId))
        const answers = yield* Effect.forEach(carts, (cart, index) => checkOut(cart, by(`race_${index}`)), {
          concurrency: "unbounded"
        })
        assert.strictEqual(answers.filter(({ status }) => status === 201).length, 2)
        answers.forEach(({ status }, index) => {
          const operations = operationsFor(`race_${index}`)
          if (status === 201) assert.deepStrictEqual(operations, ["authorize", "capture"])
          else {
            assert.notInclude(operations, "capture")
            assert.strictEqual(operations.includes("authorize"), operations.includes("cancel"))
          }
        })
      }))

    it.effect("gives the money back when the order is cancelled", () =>
      Effect.gen(function*() {
        const made = yield* checkOut(yield* aCartWith(yield* aProduct()), by("card_refunded"))
        const cancelled = yield* api("PATCH", `/api/orders/${made.text("data.id")}/status`, {
          as: asAdmin,
          body: { status: "cancelled" }
        })
        assert.deepStrictEqual([cancelled.status, cancelled.at("data.status")], [200, "cancelled"])
        const refunds = callsFor("card_refunded").filter(({ operation }) => operation === "refund")
        assert.deepStrictEqual(refunds.map(({ amount }) => amount), [1_000])
      }))
  })
})
