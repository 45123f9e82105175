import { assert, layer } from "@effect/vitest"
import { Effect, Schema } from "effect"
import { CurrencyCode, definePlugin, EntityId, group, newId, Text, WarehouseId } from "stoa/plugin"
import { giftCards } from "../../src/plugins/gift-cards/index.ts"
import { eventually } from "../support/Eventually.ts"
import { aCartWith, addTo, aProduct, aWarehouse, checkOut } from "../support/Purchase.ts"
import { type Answer, api, asAdmin, live, testAppLayer } from "../support/TestApp.ts"
import { checkoutFailed, refused } from "./CheckoutFixtures.ts"

let names = 0

const make = Effect.fnUntraced(function*(path: string, body: object) {
  const made = yield* api("POST", path, { as: asAdmin, body })
  assert.strictEqual(made.status, 201, `POST ${path}: ${JSON.stringify(made.body)}`)
  return made
})

const aCode = Effect.fnUntraced(function*(promotion: object) {
  const code = `CODE${++names}`
  yield* make("/api/promotions", { code, name: code, ...promotion })
  return code
})

const aGiftCard = (price: number) => aProduct({ type: "gift_card", price, stock: 0 })

const linesOf = (order: Answer) =>
  [0, 1].map((n) =>
    ["totalPrice", "discountAmount", "taxAmount"].map((name) => order.at(`data.lineItems.${n}.${name}`) ?? null)
  )

const issuedFor = (order: Answer) =>
  eventually(
    "the cards of the order",
    Effect.map(
      api("GET", `/api/gift-cards?sourceOrderId=${order.text("data.id")}`, { as: asAdmin }),
      (cards) => cards.list("data").length > 0 ? cards : undefined
    )
  )

const Sale = Schema.Struct({ entityId: EntityId, warehouseId: WarehouseId, code: Text })

/** A till that sells one thing, paid with a gift card. */
const till = definePlugin({
  id: "till",
  version: "1.0.0",
  routes: () => [
    group("Till", "/till").post("/sales", { auth: true, input: Sale }).handle(({ input, services }) =>
      Effect.gen(function*() {
        const [currency, reference] = [CurrencyCode.make("USD"), { type: "sale", id: newId() }]
        const orderId = yield* services.orders.soldId(reference)
        const payment = { key: reference.id, method: "gift-card", token: input.code, amount: 5_000, currency, orderId }
        const { amount, id: paymentId } = yield* Effect.catchTag(
          services.payments.collect(payment),
          ["PaymentDeclined", "PaymentUnknown"],
          Effect.die
        )
        return yield* services.orders.createSold({
          reference,
          currency,
          warehouseId: input.warehouseId,
          lineItems: [{ entityId: input.entityId, quantity: 1 }],
          tenders: [{ method: "gift-card", amount, paymentId }]
        }, () => Effect.void)
      })
    )
  ]
})

const settings = {
  plugins: [giftCards(), till],
  shipping: { type: "flat", flatRate: 500 },
  tax: { shippingByDefaultClass: true }
} as const

layer(testAppLayer(settings), live)("a line of stored value", (it) => {
  it.effect("is not discounted and not counted by promotions of any kind", () =>
    Effect.gen(function*() {
      const [card, shirt] = [yield* aGiftCard(5_000), yield* aProduct({ price: 2_000 })]
      const half = yield* aCode({ type: "percentage_off_order", value: 50 })
      const items = yield* aCode({ type: "percentage_off_item", value: 50 })
      const large = yield* aCode({ type: "fixed_off_order", value: 100, conditions: { minimumOrderValue: 5_000 } })
      for (const [code, discount] of [[half, 1_000], [items, 1_000], [large, 0]] as const) {
        const cart = yield* aCartWith(card)
        yield* addTo(cart, shirt)
        const order = yield* checkOut(cart, { promotionCodes: [code] })
        assert.deepStrictEqual(linesOf(order), [[5_000, 0, 0], [2_000, discount, 0]], code)
        const cards = yield* issuedFor(order)
        assert.strictEqual(cards.at("data.0.initialAmount"), 5_000)
      }
    }))

  it.effect("costs the same for every group and under every modifier", () =>
    Effect.gen(function*() {
      const [card, shirt] = [yield* aGiftCard(3_000), yield* aProduct({ price: 3_000 })]
      const modifier = { name: "Sale", type: "percentage_discount", value: 10 }
      const made = yield* make("/api/pricing/modifiers", modifier)
      for (const entityId of [card, shirt]) {
        yield* make("/api/pricing/prices", { entityId, currency: "USD", amount: 2_000, customerGroupId: "vip" })
      }
      const cart = yield* aCartWith(card)
      yield* addTo(cart, shirt)
      const body = { cartId: cart.id, paymentMethodId: "test", currency: "USD", customerGroupIds: ["vip"] }
      const order = yield* api("POST", "/api/checkout", { as: asAdmin, headers: cart.headers, body })
      assert.deepStrictEqual(linesOf(order), [[3_000, 0, 0], [1_800, 0, 0]])
      yield* api("DELETE", `/api/pricing/modifiers/${made.text("data.id")}`, { as: asAdmin })
    }))

  it.effect("is not taxed, and takes no part of the tax of shipping", () =>
    Effect.gen(function*() {
      const [card, shirt] = [yield* aGiftCard(10_000), yield* aProduct({ price: 1_000 })]
      const rate = yield* make("/api/tax/classes", { name: "usual", rateBps: 2_000, isDefault: true })
      const cart = yield* aCartWith(card)
      yield* addTo(cart, shirt)
      const order = yield* checkOut(cart)
      assert.deepStrictEqual(linesOf(order), [[10_000, 0, 0], [1_000, 0, 300]])
      yield* api("DELETE", `/api/tax/classes/${rate.text("data.id")}`, { as: asAdmin })
    }))

  it.effect("is not paid for with stored value, which pays for the goods beside it", () =>
    Effect.gen(function*() {
      const [card, shirt] = [yield* aGiftCard(5_000), yield* aProduct({ price: 2_000 })]
      const held = yield* make("/api/gift-cards", { amount: 10_000, currency: "USD" })
      const giftCardCodes = [held.text("data.code")]
      const message = /Gift cards and other stored value cannot pay for Title of product-\d+\./
      checkoutFailed(yield* checkOut(yield* aCartWith(card), { giftCardCodes }), message)
      const token = { paymentMethodId: "gift-card", paymentMethodToken: held.text("data.code") }
      checkoutFailed(yield* checkOut(yield* aCartWith(card), token), message)
      const cart = yield* aCartWith(card)
      yield* addTo(cart, shirt)
      checkoutFailed(yield* checkOut(cart, { giftCardCodes, paymentMethodId: "gift-card" }), message)
      const order = yield* checkOut(cart, { giftCardCodes })
      assert.strictEqual(order.status, 201)
      assert.deepStrictEqual(
        [0, 1].map((n) => order.at(`data.tenders.${n}.amount`)),
        [2_500, 5_000]
      )
    }))

  it.effect("warns in the cart that stored value does not pay for it", () =>
    Effect.gen(function*() {
      const cart = yield* aCartWith(yield* aGiftCard(5_000))
      const held = yield* make("/api/gift-cards", { amount: 10_000, currency: "USD" })
      const body = { giftCardCodes: [held.text("data.code")] }
      const shown = yield* api("PATCH", `/api/carts/${cart.id}`, { headers: cart.headers, body })
      assert.strictEqual(shown.at("data.totals.amountDue"), 5_000)
      assert.deepInclude(shown.at("data.totals.warnings.0"), { code: "gift_card_refused", lineId: null })
      assert.match(shown.text("data.totals.warnings.0.message"), /cannot pay for Title of/)
    }))

  it.effect("is not paid for with stored value at a till either", () =>
    Effect.gen(function*() {
      const held = yield* make("/api/gift-cards", { amount: 5_000, currency: "USD" })
      const code = held.text("data.code")
      const body = { entityId: yield* aGiftCard(5_000), warehouseId: yield* aWarehouse(), code }
      const sold = yield* api("POST", "/api/till/sales", { as: asAdmin, body })
      refused(sold, 422, "VALIDATION_FAILED")
      assert.match(
        sold.text("error.message"),
        /tenders must not pay for Title of product-\d+ with a gift card or other stored value\./
      )
    }))

  it.effect("does not count where a code is tried", () =>
    Effect.gen(function*() {
      const code = yield* aCode({ type: "percentage_off_order", value: 50 })
      const line = (entityType: string, price: number) => ({
        entityId: newId(),
        entityType,
        quantity: 1,
        unitPrice: price,
        totalPrice: price
      })
      const lineItems = [line("gift_card", 5_000), line("product", 2_000)]
      const body = { code, currency: "USD", subtotal: 7_000, lineItems }
      const tried = yield* api("POST", "/api/promotions/validate", { as: asAdmin, body })
      assert.strictEqual(tried.at("data.totalDiscount"), 1_000)
    }))
})

const allowing = {
  ...settings,
  catalog: { types: { gift_card: { payableWithStoredValue: true }, book: { payableWithStoredValue: false } } }
}

layer(testAppLayer(allowing), live)("stored value pays by the policy of the type", (it) => {
  const aCardOf = Effect.fnUntraced(function*(amount: number) {
    return [(yield* make("/api/gift-cards", { amount, currency: "USD" })).text("data.code")]
  })
  const tendersOf = (order: Answer) => order.list("data.tenders").map((_, n) => order.at(`data.tenders.${n}.amount`))

  it.effect("for gift cards, in cart, checkout and at a till, and they stay money", () =>
    Effect.gen(function*() {
      const rate = yield* make("/api/tax/classes", { name: "usual", rateBps: 2_000, isDefault: true })
      const card = yield* aGiftCard(5_000)
      const cart = yield* aCartWith(card)
      const giftCardCodes = yield* aCardOf(10_000)
      const shown = yield* api("PATCH", `/api/carts/${cart.id}`, { headers: cart.headers, body: { giftCardCodes } })
      const [grandTotal, amountDue, taxTotal] = ["grandTotal", "amountDue", "taxTotal"].map((name) =>
        shown.at(`data.totals.${name}`)
      )
      assert.deepStrictEqual([grandTotal, amountDue, taxTotal], [5_000, 0, 0])
      assert.deepStrictEqual(shown.at("data.totals.warnings"), [])
      const order = yield* checkOut(cart, { expectedTotal: 5_000 })
      assert.deepStrictEqual([order.status, tendersOf(order)], [201, [5_000]])
      yield* issuedFor(order)
      const [code] = yield* aCardOf(10_000)
      const token = { paymentMethodId: "gift-card", paymentMethodToken: code }
      assert.strictEqual((yield* checkOut(yield* aCartWith(card), token)).status, 201)
      const body = { entityId: card, warehouseId: yield* aWarehouse(), code: (yield* aCardOf(5_000))[0] }
      const sold = yield* api("POST", "/api/till/sales", { as: asAdmin, body })
      assert.isBelow(sold.status, 300, JSON.stringify(sold.body))
      yield* api("DELETE", `/api/tax/classes/${rate.text("data.id")}`, { as: asAdmin })
    }))

  it.effect("not for goods of a type that refuses it, nor for their tax", () =>
    Effect.gen(function*() {
      const rate = yield* make("/api/tax/classes", { name: "usual", rateBps: 2_000, isDefault: true })
      const giftCardCodes = yield* aCardOf(10_000)
      const cart = yield* aCartWith(yield* aProduct({ type: "book", price: 1_000 }))
      const order = yield* checkOut(cart, { giftCardCodes })
      // What ships it may be paid: 500, and the book takes the tax of both.
      assert.deepStrictEqual([order.at("data.grandTotal"), tendersOf(order)], [1_800, [500, 1_300]])
      yield* api("DELETE", `/api/tax/classes/${rate.text("data.id")}`, { as: asAdmin })
    }))
})
