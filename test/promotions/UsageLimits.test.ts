import { assert } from "@effect/vitest"
import { Effect } from "effect"
import { buyAs, checkoutFailed } from "../checkout/ShopFloor.ts"
import { audit } from "../support/Audit.ts"
import { aCartWith, aProduct, checkOut } from "../support/Purchase.ts"
import { type Answer, api, asAdmin, asCustomer, TestApp, withApp } from "../support/TestApp.ts"
import { aPromotion, changePromotion, usedCount } from "./PromotionBuilder.ts"

/** Ten per cent of what a product of these tests costs. */
const discount = 100

const isDiscounted = (answer: Answer): boolean => answer.status === 201 && answer.at("data.discountTotal") === discount

/** Everybody has an order, or was refused rather than charged more than he was told. */
const discounted = (answers: ReadonlyArray<Answer>): ReadonlyArray<Answer> => {
  for (const answer of answers) if (answer.status !== 201) checkoutFailed(answer)
  return answers.filter(isDiscounted)
}

const cancel = (order: Answer) =>
  api("PATCH", `/api/orders/${order.text("data.id")}/status`, { as: asAdmin, body: { status: "cancelled" } })

const atOnce = { concurrency: "unbounded" } as const

withApp("usage limits of promotions", (it) => {
  it.effect("of two per customer hold for each of three customers who check ten carts out at once", () =>
    Effect.gen(function*() {
      const { code, id } = yield* aPromotion({ usageLimitPerCustomer: 2 })
      const product = yield* aProduct({ stock: 1_000 })
      const people = ["ann", "ben", "cem"]
      const answers = yield* Effect.forEach(people, (name) => {
        const buys = Array.from({ length: 10 }, () => buyAs(asCustomer(name), product, { promotionCodes: [code] }))
        return Effect.all(buys, atOnce)
      }, atOnce)
      assert.deepStrictEqual(answers.map((own) => discounted(own).length), [2, 2, 2])
      assert.strictEqual(yield* usedCount(id), 6)
    }))

  it.effect("per customer do not hold for guests, whom nobody knows; that in all does", () =>
    Effect.gen(function*() {
      const { code, id } = yield* aPromotion({ usageLimitPerCustomer: 1, usageLimitTotal: 3 })
      const product = yield* aProduct({ stock: 1_000 })
      const orders = yield* Effect.forEach(
        Array.from({ length: 5 }),
        () => Effect.flatMap(aCartWith(product), (cart) => checkOut(cart, { promotionCodes: [code] }))
      )
      assert.deepStrictEqual(orders.map(isDiscounted), [true, true, true, false, false])
      assert.strictEqual(yield* usedCount(id), 3)
    }))

  it.effect("give back what cancelled orders used while ten times as many buy, and not one use more", () =>
    Effect.gen(function*() {
      const limit = 5
      const { code, id } = yield* aPromotion({ usageLimitTotal: limit, usageLimitPerCustomer: limit })
      const product = yield* aProduct({ stock: 1_000 })
      const body = { promotionCodes: [code] }
      const first = yield* Effect.forEach(Array.from({ length: limit }), () => buyAs(asCustomer("dan"), product, body))
      assert.strictEqual(discounted(first).length, limit)
      const carts = yield* Effect.forEach(Array.from({ length: limit * 10 }), () => aCartWith(product), {
        concurrency: 4
      })
      const [cancelled, rush] = yield* Effect.all([
        Effect.forEach(first, cancel, atOnce),
        Effect.forEach(carts, (cart) => checkOut(cart, body), atOnce)
      ], atOnce)
      for (const { status } of cancelled) assert.strictEqual(status, 200)
      const won = discounted(rush).length
      assert.isAtMost(won, limit)
      assert.strictEqual(yield* usedCount(id), won)
      // What is left is there for the next ones, and for the one who gave it back.
      const next = yield* Effect.forEach(Array.from({ length: limit }), () => buyAs(asCustomer("dan"), product, body))
      assert.strictEqual(discounted(next).length, limit - won)
      assert.strictEqual(yield* usedCount(id), limit)
      yield* audit((yield* TestApp).databaseUrl)
    }))

  it.effect("can be raised while they are reached, and not be put below what was used", () =>
    Effect.gen(function*() {
      const { code, id } = yield* aPromotion({ usageLimitTotal: 1 })
      const product = yield* aProduct()
      const buy = Effect.flatMap(aCartWith(product), (cart) => checkOut(cart, { promotionCodes: [code] }))
      assert.deepStrictEqual([isDiscounted(yield* buy), isDiscounted(yield* buy)], [true, false])
      yield* changePromotion(id, { usageLimitTotal: 2 })
      assert.deepStrictEqual([isDiscounted(yield* buy), isDiscounted(yield* buy)], [true, false])
      const refused = yield* changePromotion(id, { usageLimitTotal: 1 })
      assert.deepStrictEqual(
        [refused.status, refused.at("error.code"), refused.at("error.details.issues.0.path")],
        [422, "VALIDATION_FAILED", "usageLimitTotal"]
      )
    }))
})
