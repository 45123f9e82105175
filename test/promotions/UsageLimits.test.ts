import { assert } from "@effect/vitest"
import { Effect } from "effect"
import { promotionReasons } from "../../src/domain/promotions/PromotionRules.ts"
import { buyAs, checkoutFailed } from "../checkout/CheckoutFixtures.ts"
import { audit } from "../support/Audit.ts"
import { aCartWith, aProduct, checkOut } from "../support/Purchase.ts"
import { type Answer, api, asAdmin, asCustomer, TestApp, withApp } from "../support/TestApp.ts"
import { aPromotion, changePromotion, usedCount } from "./PromotionBuilder.ts"

/** Ten per cent of what a product of these tests costs. */
const discount = 100

const isDiscounted = (answer: Answer): boolean => answer.status === 201 && answer.at("data.discountTotal") === discount

/** Each customer has an order, or was refused rather than charged more than quoted. */
const discounted = (answers: ReadonlyArray<Answer>): ReadonlyArray<Answer> => {
  for (const answer of answers) if (answer.status !== 201) checkoutFailed(answer)
  return answers.filter(isDiscounted)
}

const cancel = (order: Answer) =>
  api("PATCH", `/api/orders/${order.text("data.id")}/status`, { as: asAdmin, body: { status: "cancelled" } })

const atOnce = { concurrency: "unbounded" } as const

withApp("usage limits of promotions", (it) => {
  it.effect("usage limits of promotions of two per customer hold for each of three customers who check ten carts out at once", () =>
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

  it.effect("usage limits of promotions of two per customer hold for a guest by the e-mail address, also beside a customer of the same one", () =>
    Effect.gen(function*() {
      const { code, id } = yield* aPromotion({ usageLimitPerCustomer: 2 })
      const product = yield* aProduct({ stock: 1_000 })
      const body = { promotionCodes: [code] }
      const eve = { ...asCustomer("eve"), email: "Eve@Example.com" }
      const addresses = ["eve@example.com", "EVE@example.com ", "Eve@Example.Com", "fay@example.com"]
      const carts = yield* Effect.forEach(addresses, (email) => aCartWith(product, 1, email))
      const [guests, own] = yield* Effect.all([
        Effect.forEach(carts, (cart) => checkOut(cart, body), atOnce),
        Effect.all([buyAs(eve, product, body), buyAs(eve, product, body)], atOnce)
      ], atOnce)
      assert.deepStrictEqual(
        [discounted([...guests.slice(0, 3), ...own]).length, discounted(guests.slice(3)).length],
        [2, 1]
      )
      assert.strictEqual(yield* usedCount(id), 3)
      yield* audit((yield* TestApp).databaseUrl)
    }))

  it.effect("usage limits of promotions refuse a promotion with a limit per customer to an unknown buyer, and say what is missing", () =>
    Effect.gen(function*() {
      const { code, id } = yield* aPromotion({ usageLimitPerCustomer: 1 })
      const cart = yield* aCartWith(yield* aProduct())
      const order = yield* checkOut(cart, { promotionCodes: [code] })
      assert.deepStrictEqual([order.status, order.at("data.discountTotal")], [201, 0])
      assert.deepStrictEqual(order.at("meta.rejectedPromotionCodes"), [
        { code, reason: promotionReasons.unknownCustomer }
      ])
      assert.strictEqual(yield* usedCount(id), 0)
    }))

  it.effect("usage limits of promotions give back what cancelled orders used while ten times as many buy, and not one use more", () =>
    Effect.gen(function*() {
      const limit = 3
      const { code, id } = yield* aPromotion({ usageLimitTotal: limit, usageLimitPerCustomer: limit })
      const product = yield* aProduct({ stock: 1_000 })
      const body = { promotionCodes: [code] }
      const first = yield* Effect.forEach(Array.from({ length: limit }), () => buyAs(asCustomer("dan"), product, body))
      assert.strictEqual(discounted(first).length, limit)
      const carts = yield* Effect.forEach(
        Array.from({ length: limit * 10 }),
        (_, n) => aCartWith(product, 1, `guest-${n}@example.com`),
        { concurrency: 4 }
      )
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

  it.effect("usage limits of promotions can be raised while they are reached, and not be put below what was used", () =>
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
