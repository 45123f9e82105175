import { assert } from "@effect/vitest"
import { Effect } from "effect"
import { newId } from "../../src/domain/platform/ids/Id.ts"
import { promotionReasons } from "../../src/domain/promotions/PromotionRules.ts"
import { buyAs } from "../checkout/CheckoutFixtures.ts"
import { addTo, aGuestCart, aProduct } from "../support/Purchase.ts"
import { type Answer, api, asAdmin, asCustomer, at, withSharedApp } from "../support/TestApp.ts"
import { aPromotion, changePromotion } from "./PromotionBuilder.ts"

const byCode = (list: ReadonlyArray<unknown>): ReadonlyMap<string, string> =>
  new Map(list.map((one) => [String(at(one, "code")), String(at(one, "reason"))]))

/** What a quote for a customer says of codes, with the lines of an order. */
const quoteFor = Effect.fnUntraced(
  function*(entityId: string, promotionCodes: ReadonlyArray<string>, customerId?: string) {
    const lineItems = [{ entityId, quantity: 1 }]
    const body = { currency: "USD", lineItems, promotionCodes, customerId }
    return yield* api("POST", "/api/orders/quote", { as: asAdmin, body })
  }
)

const discountsOf = (order: Answer) => order.list("data.lineItems").map((line) => at(line, "discountAmount"))

withSharedApp("promotion codes", (it) => {
  it.effect("reports a code without effect with its reason, alike in validation, quote and checkout", () =>
    Effect.gen(function*() {
      const product = yield* aProduct()
      const shopper = asCustomer("regular")
      const usedUp = yield* aPromotion({ usageLimitTotal: 1 })
      const once = yield* aPromotion({ usageLimitPerCustomer: 1 })
      const earlier = yield* buyAs(shopper, product, { promotionCodes: [usedUp.code, once.code] })
      assert.strictEqual(earlier.at("data.discountTotal"), 200)
      const inactive = yield* aPromotion()
      yield* changePromotion(inactive.id, { isActive: false })
      const reasons = promotionReasons
      const cases: ReadonlyArray<readonly [string, string]> = [
        [inactive.code, reasons.inactive],
        [(yield* aPromotion({ validUntil: "2020-01-01T00:00:00.000Z" })).code, reasons.outsideWindow],
        [(yield* aPromotion({ validFrom: "2099-01-01T00:00:00.000Z" })).code, reasons.outsideWindow],
        [(yield* aPromotion({ conditions: { minimumOrderValue: 1_001 } })).code, reasons.minimumOrderValue],
        [(yield* aPromotion({ conditions: { minimumQuantity: 2 } })).code, reasons.minimumQuantity],
        [(yield* aPromotion({ conditions: { customerGroups: ["vip"] } })).code, reasons.groupNotEligible],
        [(yield* aPromotion({ conditions: { entityTypes: ["book"] } })).code, reasons.noEligibleItem],
        [(yield* aPromotion({ conditions: { categories: ["shoes"] } })).code, reasons.noEligibleItem],
        [(yield* aPromotion({ conditions: { firstOrderOnly: true } })).code, reasons.firstOrderOnly],
        [usedUp.code, reasons.usageLimit],
        [once.code, reasons.customerLimit],
        [
          (yield* aPromotion({ type: "fixed_off_order", value: 5, currency: "EUR" })).code,
          reasons.otherCurrency
        ],
        [(yield* aPromotion({ value: 0 })).code, reasons.noDiscount]
      ]
      const line = { entityId: product, entityType: "product", quantity: 1, unitPrice: 1_000, totalPrice: 1_000 }
      for (const [code, reason] of cases) {
        const body = { code, currency: "USD", subtotal: 1_000, lineItems: [line] }
        const tried = yield* api("POST", "/api/promotions/validate", { as: shopper, body })
        assert.deepStrictEqual(
          [tried.status, tried.at("error.code"), tried.at("error.details.issues")],
          [422, "VALIDATION_FAILED", [{ path: "code", message: reason, code: "not_eligible" }]]
        )
      }
      const expected = new Map([...cases, ["BOGUS", reasons.unknownCode]])
      const codes = [...expected.keys()]
      const quote = yield* quoteFor(product, codes, earlier.text("data.customerId"))
      assert.deepStrictEqual(byCode(quote.list("data.rejectedPromotionCodes")), expected)
      const order = yield* buyAs(shopper, product, { promotionCodes: codes })
      assert.deepStrictEqual([order.status, order.at("data.discountTotal")], [201, 0])
      assert.deepStrictEqual(byCode(order.list("meta.rejectedPromotionCodes")), expected)
    }))

  it.effect("reports codes that cannot be combined or have nothing left to discount", () =>
    Effect.gen(function*() {
      const product = yield* aProduct()
      const less = yield* aPromotion({ value: 20, stackable: false })
      const [all, late] = [yield* aPromotion({ value: 100, priority: 1 }), yield* aPromotion({ priority: 2 })]
      const free = yield* aPromotion({ type: "free_shipping", value: 0, priority: 3 })
      const codes = [less.code, all.code, late.code, free.code]
      const expected = new Map<string, string>([
        [less.code, promotionReasons.notCombinable],
        [late.code, promotionReasons.noDiscount]
      ])
      const order = yield* buyAs(asCustomer("hoarder"), product, { promotionCodes: codes })
      assert.deepStrictEqual(byCode(order.list("meta.rejectedPromotionCodes")), expected)
      assert.deepStrictEqual(
        order.list("data.metadata.appliedPromotions").map((one) => [at(one, "code"), at(one, "discountAmount")]),
        [[all.code, 1_000], [free.code, 0]]
      )
      const quote = yield* quoteFor(product, codes)
      assert.deepStrictEqual(byCode(quote.list("data.rejectedPromotionCodes")), expected)
    }))

  it.effect("promotion codes take off the lines they are for, and codes for the order what these still cost", () =>
    Effect.gen(function*() {
      const [shoe, hat] = [yield* aProduct({ price: 1_111 }), yield* aProduct({ price: 700 })]
      const slug = `hats-${newId()}`
      const category = yield* api("POST", "/api/catalog/categories", { as: asAdmin, body: { slug } })
      yield* api("POST", `/api/catalog/entities/${hat}/categories/${category.text("data.id")}`, { as: asAdmin })
      const hats = { conditions: { categories: [slug] } }
      const ofHats = yield* aPromotion({ type: "percentage_off_item", ...hats })
      const each = yield* aPromotion({ type: "fixed_off_item", value: 55, ...hats })
      const third = yield* aPromotion({ type: "buy_x_get_y", value: 0, buyQuantity: 2, getQuantity: 1, ...hats })
      const ofAll = yield* aPromotion()
      const expected: ReadonlyArray<readonly [ReadonlyArray<string>, Array<number>]> = [
        [[ofHats.code], [0, 210]],
        [[each.code], [0, 165]],
        [[third.code], [0, 700]],
        // A tenth of 4322 is 432; two shoes for 2222 and three hats for 1890 bear 233.4 and 198.6 of it.
        [[ofHats.code, ofAll.code], [233, 210 + 199]]
      ]
      for (const [promotionCodes, discounts] of expected) {
        const cart = yield* aGuestCart()
        yield* addTo(cart, shoe, 2)
        yield* addTo(cart, hat, 3)
        const body = { cartId: cart.id, paymentMethodId: "test", currency: "USD", promotionCodes }
        const order = yield* api("POST", "/api/checkout", { headers: cart.headers, body })
        assert.deepStrictEqual(discountsOf(order), [...discounts])
      }
    }))
})
