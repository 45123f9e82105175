import { assert, describe, layer } from "@effect/vitest"
import { Effect } from "effect"
import { Stripe, stripeStore } from "../payments/StripeStore.ts"
import { audit } from "../support/Audit.ts"
import { aCartWith, aProduct, aWarehouse, checkOut, putInto } from "../support/Purchase.ts"
import { api, asAdmin, TestApp } from "../support/TestApp.ts"
import { assertTakenBack, checkoutFailed, ordersFrom, stockOf } from "./CheckoutFixtures.ts"

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

layer(stripeStore(), { excludeTestServices: true, timeout: "60 seconds" })("the failure matrix of a checkout", (it) => {
  for (const { name, pays, unpaid } of providers) {
    describe(`with ${name}`, () => {
      it.effect("stock gone at the reservation: as many orders as units, and nothing of the others", () =>
        Effect.gen(function*() {
          const entityId = yield* aProduct({ stock: 2 })
          const carts = yield* Effect.forEach(Array.from({ length: 6 }), () => aCartWith(entityId))
          const answers = yield* Effect.forEach(carts, (cart) => checkOut(cart, pays), { concurrency: "unbounded" })
          assert.deepStrictEqual(answers.map(({ status }) => status).sort(), [201, 201, 422, 422, 422, 422])
          const refused = carts.filter((_, n) => answers[n]?.status === 422)
          for (const [n, cart] of carts.entries()) {
            const answer = answers[n]
            if (answer?.status !== 422) continue
            checkoutFailed(answer, /Insufficient stock/)
            assert.deepStrictEqual(yield* ordersFrom(cart.id), [])
            const now = yield* api("GET", `/api/carts/${cart.id}`, { as: asAdmin })
            assert.strictEqual(now.at("data.status"), "active")
          }
          assert.deepStrictEqual(yield* openFor(refused), [])
          assert.deepStrictEqual(yield* stockOf(entityId), { onHand: 2, reserved: 2 })
        }))

      it.effect("capture declined for a shopper: order cancelled, payment void, stock free, cart active again", () =>
        Effect.gen(function*() {
          const entityId = yield* aProduct()
          const { code, id } = yield* aCode(1)
          const cart = yield* aCartWith(entityId)
          checkoutFailed(yield* checkOut(cart, { ...unpaid, promotionCodes: [code] }), /Payment capture failed/)
          yield* assertTakenBack(cart.id, entityId)
          assert.deepStrictEqual(yield* openFor([cart]), [])
          const promotion = yield* api("PATCH", `/api/promotions/${id}`, { as: asAdmin, body: {} })
          assert.strictEqual(promotion.at("data.usedCount"), 0)
          const second = yield* checkOut(cart, { ...pays, promotionCodes: [code] })
          assert.deepStrictEqual([second.status, second.at("data.amountCaptured")], [201, 900])
        }))

      it.effect("capture declined for staff: the same, and another order's units stay reserved", () =>
        Effect.gen(function*() {
          const entityId = yield* aProduct({ stock: 5 })
          assert.strictEqual((yield* checkOut(yield* aCartWith(entityId, 3), pays)).status, 201)
          const as = asAdmin
          const cartId = (yield* api("POST", "/api/carts", { as, body: { currency: "USD" } })).text("data.id")
          yield* api("POST", `/api/carts/${cartId}/items`, { as, body: { entityId, quantity: 2 } })
          const failed = yield* api("POST", "/api/checkout", { as, body: { cartId, currency: "USD", ...unpaid } })
          checkoutFailed(failed, /Payment capture failed/)
          assert.deepStrictEqual(yield* stockOf(entityId), { onHand: 5, reserved: 3 })
          assert.deepStrictEqual(yield* openFor([{ id: cartId }]), [])
        }))

      it.effect("stock split over warehouses is sold from all of them", () =>
        Effect.gen(function*() {
          const entityId = yield* aProduct({ stock: 1 })
          const warehouseId = yield* aWarehouse("SECOND")
          const body = { entityId, warehouseId, type: "restock", quantity: 5 }
          yield* api("POST", "/api/inventory/adjust", { as: asAdmin, body })
          assert.strictEqual((yield* checkOut(yield* aCartWith(entityId, 3), pays)).status, 201)
          assert.deepStrictEqual(yield* stockOf(entityId), { onHand: 6, reserved: 3 })
        }))

      it.effect("a code's last use wanted by six at once is given once, and nothing stays of whoever is refused", () =>
        Effect.gen(function*() {
          const entityId = yield* aProduct()
          const { code, id } = yield* aCode(1)
          const carts = yield* Effect.forEach(Array.from({ length: 6 }), () => aCartWith(entityId))
          const answers = yield* Effect.forEach(
            carts,
            (cart) => checkOut(cart, { ...pays, promotionCodes: [code] }),
            { concurrency: "unbounded" }
          )
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

  it.effect("and the books are in order after all of it", () =>
    Effect.gen(function*() {
      const { databaseUrl } = yield* TestApp
      const cart = yield* aCartWith(yield* aProduct())
      yield* putInto(cart, yield* aProduct())
      assert.strictEqual((yield* checkOut(cart)).status, 201)
      yield* audit(databaseUrl)
    }))
})
