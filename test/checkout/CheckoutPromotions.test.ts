import { assert, describe, layer } from "@effect/vitest"
import { Effect } from "effect"
import { newId } from "../../src/domain/platform/ids/Id.ts"
import { promotionReasons } from "../../src/domain/promotions/PromotionRules.ts"
import { signTestEvent } from "../../src/layers/payments/TestProvider.ts"
import { aPromotion, usedCount } from "../promotions/PromotionBuilder.ts"
import { aCartWith, aGuestCart, aProduct, checkOut, type GuestCart, putInto } from "../support/Purchase.ts"
import { type Answer, api, asAdmin, asCustomer, asStaff, at, live, testAppLayer } from "../support/TestApp.ts"
import { aFilledCart, assertAddsUp, assertTakenBack, buyAs, checkoutFailed } from "./CheckoutFixtures.ts"

const shipping = 500

const address = { line1: "1 Main St", city: "Austin", state: "TX", postalCode: "78701", country: "US" }

const withCodes = (cart: GuestCart, promotionCodes: ReadonlyArray<string>, body: object = {}) =>
  checkOut(cart, { promotionCodes, shippingAddress: address, ...body })

/** The codes that were refused. A refusal carries the code and why. */
const rejected = (answer: Answer) =>
  answer.at("meta.rejectedPromotionCodes") === undefined
    ? []
    : answer.list("meta.rejectedPromotionCodes").map((one) => at(one, "code") ?? one)

/** An event of the built-in test provider about an order's payment. */
const sendEvent = (type: string, orderId: string, intent: string) => {
  const body = JSON.stringify({ id: newId(), type, data: { object: { id: intent, metadata: { orderId } } } })
  return api("POST", "/api/payments/webhook", { body, headers: { "x-payment-signature": signTestEvent("test", body) } })
}

const discounted = (answer: Answer, discountTotal: number, about = "") => {
  assert.strictEqual(answer.status, 201, JSON.stringify(answer.body))
  assert.strictEqual(answer.at("data.discountTotal"), discountTotal, about)
  assertAddsUp(answer)
}

layer(testAppLayer({ shipping: { type: "flat", flatRate: shipping } }), live)("promotions at checkout", (it) => {
  describe("a promotion of a type", () => {
    /** Two products of 1111 and three books of 700: a subtotal of 4322. */
    const basket = Effect.fnUntraced(function*() {
      const cart = yield* aCartWith(yield* aProduct({ price: 1_111 }), 2)
      yield* putInto(cart, yield* aProduct({ type: "book", price: 700 }), 3)
      return cart
    })
    const books = { conditions: { entityTypes: ["book"] } }
    const types: ReadonlyArray<readonly [string, object, number]> = [
      ["10 % off the order", { type: "percentage_off_order", value: 10 }, 432],
      ["12.5 % off the order, half a unit up", { type: "percentage_off_order", value: 12.5 }, 540],
      ["100 % off the order", { type: "percentage_off_order", value: 100 }, 4_322],
      ["900 off the order", { type: "fixed_off_order", value: 900 }, 900],
      ["more off than the order is worth", { type: "fixed_off_order", value: 10_000 }, 4_322],
      ["10 % off books", { type: "percentage_off_item", value: 10, ...books }, 210],
      ["55 off each book", { type: "fixed_off_item", value: 55, ...books }, 165],
      ["one of three books free", { type: "buy_x_get_y", value: 0, buyQuantity: 2, getQuantity: 1, ...books }, 700],
      ["one of two free, twice, the cheapest", { type: "buy_x_get_y", value: 0, buyQuantity: 1, getQuantity: 1 }, 1_400]
    ]
    for (const [name, fields, discount] of types) {
      it.effect(`${name} takes off ${discount} and adds up line by line`, () =>
        Effect.gen(function*() {
          const { code, id } = yield* aPromotion(fields)
          const made = yield* withCodes(yield* basket(), [code])
          discounted(made, discount)
          const total = 4_322 - discount + shipping
          assert.include(made.at("data"), { subtotal: 4_322, grandTotal: total, amountCaptured: total })
          const applied = { promotionId: id, code, discountAmount: discount }
          assert.include(made.at("data.metadata.appliedPromotions.0"), applied)
          assert.deepStrictEqual(rejected(made), [])
          assert.strictEqual(yield* usedCount(id), 1)
        }))
    }

    it.effect("free shipping takes off the shipping and nothing else", () =>
      Effect.gen(function*() {
        const { code } = yield* aPromotion({ type: "free_shipping", value: 0 })
        const cart = yield* aFilledCart()
        const made = yield* withCodes(cart, [code])
        discounted(made, 0)
        assert.deepStrictEqual([made.at("data.shippingTotal"), made.at("data.grandTotal")], [0, 1_000])
      }))

    it.effect("a discount of three equal lines is spread to the unit", () =>
      Effect.gen(function*() {
        const { code } = yield* aPromotion({ type: "fixed_off_order", value: 100 })
        const cart = yield* aGuestCart()
        for (const _ of [1, 2, 3]) yield* putInto(cart, yield* aProduct({ price: 1_000 }))
        const made = yield* withCodes(cart, [code])
        discounted(made, 100)
        const parts = made.list("data.lineItems").map((line) => Number(at(line, "discountAmount"))).sort()
        assert.deepStrictEqual(parts, [33, 33, 34])
      }))
  })

  describe("codes", () => {
    it.effect("stack, each on the whole subtotal, and never below zero", () =>
      Effect.gen(function*() {
        const first = yield* aPromotion({ value: 60, priority: 1 })
        const second = yield* aPromotion({ value: 60, priority: 2 })
        const made = yield* withCodes(yield* aFilledCart(), [second.code, first.code])
        discounted(made, 1_000)
        assert.strictEqual(made.at("data.grandTotal"), shipping)
        const applied = made.list("data.metadata.appliedPromotions")
        assert.deepStrictEqual(applied.map((one) => [at(one, "promotionId"), at(one, "discountAmount")]), [
          [first.id, 600],
          [second.id, 400]
        ])
      }))

    it.effect("count once however they are written and however often", () =>
      Effect.gen(function*() {
        const { code, id } = yield* aPromotion({})
        const made = yield* withCodes(yield* aFilledCart(), [code, code.toLowerCase(), code])
        discounted(made, 100)
        assert.strictEqual(made.list("data.metadata.appliedPromotions").length, 1)
        assert.strictEqual(yield* usedCount(id), 1)
      }))

    it.effect("that cannot be used are reported with the reason, and the order is created without them", () =>
      Effect.gen(function*() {
        const good = yield* aPromotion({})
        const reasons: ReadonlyArray<readonly [object, string]> = [
          [{ isActive: false }, promotionReasons.inactive],
          [{ validUntil: "2020-01-01" }, promotionReasons.outsideWindow],
          [{ validFrom: "2099-01-01T00:00:00.000Z" }, promotionReasons.outsideWindow],
          [{ conditions: { minimumOrderValue: 1_001 } }, promotionReasons.minimumOrderValue],
          [{ conditions: { minimumQuantity: 2 } }, promotionReasons.minimumQuantity],
          [{ conditions: { entityTypes: ["book"] } }, promotionReasons.noEligibleItem],
          [{ conditions: { categories: ["shoes"] } }, promotionReasons.noEligibleItem],
          [{ conditions: { customerGroups: ["vip"] } }, promotionReasons.groupNotEligible],
          [{ type: "fixed_off_order", value: 5, currency: "EUR" }, promotionReasons.otherCurrency],
          [{ usageLimitTotal: 0 }, promotionReasons.usageLimit]
        ]
        const codes = yield* Effect.forEach(reasons, ([fields]) => Effect.map(aPromotion(fields), ({ code }) => code))
        const made = yield* withCodes(yield* aFilledCart(), [...codes, "BOGUS", good.code], {
          customerGroupIds: ["vip"]
        })
        discounted(made, 100)
        assert.strictEqual(made.list("data.metadata.appliedPromotions").length, 1)
        assert.sameDeepMembers([...made.list("meta.rejectedPromotionCodes")], [
          ...reasons.map(([, reason], n) => ({ code: codes[n], reason })),
          { code: "BOGUS", reason: promotionReasons.unknownCode }
        ])
      }))

    it.effect("that do not stack apply alone, where they save more than the others together", () =>
      Effect.gen(function*() {
        const stack = [yield* aPromotion({ value: 10 }), yield* aPromotion({ value: 15 })].map(({ code }) => code)
        const [less, more] = [
          yield* aPromotion({ value: 20, stackable: false }),
          yield* aPromotion({ value: 30, stackable: false })
        ]
        const entityId = yield* aProduct()
        const together = yield* withCodes(yield* aCartWith(entityId), [...stack, less.code])
        discounted(together, 250)
        assert.deepStrictEqual(rejected(together), [less.code])
        const alone = yield* withCodes(yield* aCartWith(entityId), [...stack, more.code])
        discounted(alone, 300)
        assert.sameMembers(rejected(alone), stack)
      }))

    it.effect("for a group are honoured when staff names the group", () =>
      Effect.gen(function*() {
        const { code } = yield* aPromotion({ conditions: { customerGroups: ["vip"] } })
        const cart = yield* aFilledCart()
        const pays = { cartId: cart.id, paymentMethodId: "test", currency: "USD" }
        const body = { ...pays, customerGroupIds: ["vip"], promotionCodes: [code] }
        discounted(yield* api("POST", "/api/checkout", { as: asStaff, headers: cart.headers, body }), 100)
      }))

    it.effect("of automatic promotions count once, named or not", () =>
      Effect.gen(function*() {
        const { code, id } = yield* aPromotion({ isAutomatic: true, conditions: { minimumOrderValue: 7_777 } })
        const dear = yield* aProduct({ price: 7_777 })
        discounted(yield* withCodes(yield* aCartWith(dear), []), 778)
        const named = yield* withCodes(yield* aCartWith(dear), [code])
        discounted(named, 778)
        assert.strictEqual(named.list("data.metadata.appliedPromotions").length, 1)
        yield* api("POST", `/api/promotions/${id}/deactivate`, { as: asAdmin })
        discounted(yield* withCodes(yield* aCartWith(dear), []), 0)
      }))

    it.effect("for first orders are given once, also when a new customer checks several carts out at once", () =>
      Effect.gen(function*() {
        const body = { promotionCodes: [(yield* aPromotion({ conditions: { firstOrderOnly: true } })).code] }
        const buy = buyAs(asCustomer("hurried"), yield* aProduct(), body)
        const answers = yield* Effect.replicateEffect(buy, 8, { concurrency: "unbounded" })
        for (const answer of answers) if (answer.status !== 201) checkoutFailed(answer)
        assert.strictEqual(answers.filter((answer) => answer.at("data.discountTotal") === 100).length, 1)
        const late = yield* buy
        discounted(late, 0)
        assert.deepStrictEqual(rejected(late), body.promotionCodes)
      }))

    it.effect("are not used up by a checkout that failed", () =>
      Effect.gen(function*() {
        const { code, id } = yield* aPromotion({ usageLimitTotal: 1 })
        const entityId = yield* aProduct()
        const cart = yield* aCartWith(entityId)
        for (const paymentMethodId of ["test_decline", "test_capture_fail"]) {
          checkoutFailed(yield* withCodes(cart, [code], { paymentMethodId }))
          assert.strictEqual(yield* usedCount(id), 0, paymentMethodId)
        }
        yield* assertTakenBack(cart.id, entityId)
        discounted(yield* withCodes(cart, [code]), 100)
        assert.strictEqual(yield* usedCount(id), 1)
        const late = yield* withCodes(yield* aCartWith(entityId), [code])
        discounted(late, 0)
        assert.deepStrictEqual(rejected(late), [code])
      }))

    it.effect("are usable again after the shop cancelled the order, once, and not when its payment is called off late", () =>
      Effect.gen(function*() {
        const entityId = yield* aProduct()
        const { code, id } = yield* aPromotion({ usageLimitTotal: 1, usageLimitPerCustomer: 1 })
        const body = { promotionCodes: [code] }
        const first = yield* buyAs(asCustomer(`regretful-${id}`), entityId, body)
        const orderId = first.text("data.id")
        discounted(first, 100)
        // The order is paid: what its provider says of the intent afterwards takes nothing back.
        yield* sendEvent("payment_intent.canceled", orderId, first.text("data.paymentIntentId"))
        assert.strictEqual(yield* usedCount(id), 1)
        for (const status of [200, 422]) {
          const path = `/api/orders/${orderId}/status`
          const cancelled = yield* api("PATCH", path, { as: asAdmin, body: { status: "cancelled" } })
          assert.strictEqual(cancelled.status, status, JSON.stringify(cancelled.body))
          assert.strictEqual(yield* usedCount(id), 0)
        }
        discounted(yield* buyAs(asCustomer(`regretful-${id}`), entityId, body), 100)
        assert.strictEqual(yield* usedCount(id), 1)
      }))
  })

  describe("limits", () => {
    for (const limit of [1, 10]) {
      it.effect(`of ${limit * 10} buyers at once exactly ${limit} get a code that ${limit} may use`, () =>
        Effect.gen(function*() {
          const { code, id } = yield* aPromotion({ usageLimitTotal: limit })
          const entityId = yield* aProduct({ stock: 1_000 })
          const carts = yield* Effect.forEach(Array.from({ length: limit * 10 }), () => aCartWith(entityId), {
            concurrency: 4
          })
          const answers = yield* Effect.all(carts.map((cart) => withCodes(cart, [code])), { concurrency: "unbounded" })
          const placed = answers.filter(({ status }) => status === 201)
          const winners = placed.filter((answer) => answer.at("data.discountTotal") === 100)
          assert.strictEqual(winners.length, limit)
          for (const answer of placed) assertAddsUp(answer)
          for (const answer of placed.filter((one) => !winners.includes(one))) {
            discounted(answer, 0)
            assert.deepStrictEqual(rejected(answer), [code])
          }
          // A buyer who loses the race may be refused instead of charged more than was promised, and may try again.
          for (const [index, answer] of answers.entries()) {
            const cart = carts[index]
            if (answer.status === 201 || cart === undefined) continue
            checkoutFailed(answer)
            discounted(yield* withCodes(cart, [code]), 0)
          }
          assert.strictEqual(yield* usedCount(id), limit)
        }))
    }

    it.effect("of one per customer hold for that customer alone, also when many checkouts run at once", () =>
      Effect.gen(function*() {
        const { code } = yield* aPromotion({ usageLimitPerCustomer: 1 })
        const entityId = yield* aProduct()
        const body = { promotionCodes: [code] }
        const buy = buyAs(asCustomer("collector"), entityId, body)
        const answers = yield* Effect.replicateEffect(buy, 10, { concurrency: "unbounded" })
        for (const answer of answers) if (answer.status !== 201) checkoutFailed(answer)
        assert.strictEqual(answers.filter((answer) => answer.at("data.discountTotal") === 100).length, 1)
        const again = yield* buy
        discounted(again, 0)
        assert.deepStrictEqual(rejected(again), [code])
        discounted(yield* buyAs(asCustomer("another"), entityId, body), 100)
      }))
  })
})
