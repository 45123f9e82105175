import { assert, layer } from "@effect/vitest"
import { Effect, Schema } from "effect"
import { CurrencyCode, definePlugin, EntityId, group, Text, WarehouseId } from "stoa/plugin"
import { giftCards } from "../../src/plugins/gift-cards/index.ts"
import { eventually } from "../support/Eventually.ts"
import { aCartWith, addTo, aProduct, aWarehouse, checkOut, type GuestCart } from "../support/Purchase.ts"
import { type Answer, api, asAdmin, live, testAppLayer } from "../support/TestApp.ts"
import { checkoutFailed, refused } from "./CheckoutFixtures.ts"

const Sale = Schema.Struct({
  entityId: EntityId,
  warehouseId: WarehouseId,
  id: Text,
  paid: Schema.Int,
  method: Text,
  card: Schema.optional(Text)
})

/** A till that sells one thing, paid with one payment. */
const till = definePlugin({
  id: "till",
  version: "1.0.0",
  routes: () => [
    group("Till", "/till").post("/sales", { auth: true, input: Sale }).handle(({ input, services }) =>
      Effect.gen(function*() {
        const [currency, reference] = [CurrencyCode.make("USD"), { type: "sale", id: input.id }]
        const { card: token = null, id: key, method, paid: amount } = input
        const orderId = yield* services.orders.soldId(reference)
        const { id: paymentId } = yield* Effect.catchTag(
          services.payments.collect({ key, method, token, amount, currency, orderId }),
          ["PaymentDeclined", "PaymentUnknown"],
          Effect.die
        )
        return yield* services.orders.createSold({
          reference,
          currency,
          warehouseId: input.warehouseId,
          lineItems: [{ entityId: input.entityId, quantity: 1 }],
          tenders: [{ method, amount, paymentId }]
        }, () => Effect.void)
      })
    )
  ]
})

const settings = (pricesIncludeTax: boolean) => ({
  plugins: [giftCards({ singlePurpose: true }), till],
  shipping: { type: "flat" as const, flatRate: 500 },
  tax: { pricesIncludeTax, shippingByDefaultClass: true }
})

const post = Effect.fnUntraced(function*(path: string, body: object) {
  const made = yield* api("POST", path, { as: asAdmin, body })
  assert.isBelow(made.status, 300, `POST ${path}: ${JSON.stringify(made.body)}`)
  return made
})

const aCard = (amount: number, body: object = {}) =>
  Effect.map(
    post("/api/gift-cards", { amount, currency: "USD", ...body }),
    (made) => ({ id: made.text("data.id"), code: made.text("data.code") })
  )
const cardAt = (id: string) => api("GET", `/api/gift-cards/${id}`, { as: asAdmin })

const tax = Effect.gen(function*() {
  yield* api("POST", "/api/tax/classes", { as: asAdmin, body: { name: "usual", rateBps: 2_000, isDefault: true } })
  yield* api("POST", "/api/tax/classes", { as: asAdmin, body: { name: "reduced", rateBps: 1_000 } })
  const classes = yield* api("GET", "/api/tax/classes", { as: asAdmin })
  return (name: string) =>
    classes.text(`data.${classes.list("data").findIndex((_, n) => classes.at(`data.${n}.name`) === name)}.id`)
})

const aReduced = Effect.fnUntraced(function*(price: number) {
  const taxClassId = (yield* tax)("reduced")
  const id = yield* aProduct({ price })
  const changed = yield* api("PATCH", `/api/catalog/entities/${id}`, { as: asAdmin, body: { taxClassId } })
  assert.strictEqual(changed.status, 200, JSON.stringify(changed.body))
  return id
})

const names = ["subtotal", "discountTotal", "shippingTotal", "taxTotal", "grandTotal"]
const billOf = (answer: Answer, path: string) => names.map((name) => answer.at(`${path}.${name}`))
const paidIn = (answer: Answer, path: string) => answer.list(path).map((_, n) => answer.at(`${path}.${n}.amount`))
const linesOf = (order: Answer) => order.list("data.lineItems").map((_, n) => order.at(`data.lineItems.${n}.taxAmount`))

/** The order of a cart, whose totals and quote are the same bill, paid in the same parts. */
const sameEverywhere = Effect.fnUntraced(
  function*(cart: GuestCart, giftCardCodes: ReadonlyArray<string>, body: object, bill: ReadonlyArray<number>) {
    const chosen = { giftCardCodes, ...body }
    const quote = yield* api("POST", `/api/carts/${cart.id}/quote`, { headers: cart.headers, body: chosen })
    const kept = yield* api("PATCH", `/api/carts/${cart.id}`, { headers: cart.headers, body: chosen })
    const order = yield* checkOut(cart, { expectedTotal: bill.at(-1) })
    assert.strictEqual(order.status, 201, JSON.stringify(order.body))
    assert.deepStrictEqual(billOf(quote, "data.totals"), [...bill])
    assert.deepStrictEqual(billOf(kept, "data.totals"), [...bill])
    assert.deepStrictEqual(billOf(order, "data"), [...bill])
    const cards = paidIn(kept, "data.totals.tenders")
    assert.deepStrictEqual(paidIn(order, "data.tenders").slice(0, cards.length), cards)
    return order
  }
)

const bought = Effect.fnUntraced(function*(bill: ReadonlyArray<number>) {
  yield* tax
  const cart = yield* aCartWith(yield* aProduct({ type: "gift_card", price: 5_000, stock: 0 }))
  const order = yield* sameEverywhere(cart, [], {}, bill)
  const path = `/api/gift-cards?sourceOrderId=${order.text("data.id")}`
  const card = yield* eventually(
    "the card of the order",
    Effect.map(api("GET", path, { as: asAdmin }), (found) => found.list("data").length > 0 ? found : undefined)
  )
  const id = card.text("data.0.id")
  assert.deepStrictEqual([card.at("data.0.balance"), card.at("data.0.singlePurpose")], [5_000, true])
  return { id, code: (yield* post(`/api/gift-cards/${id}/code`, {})).text("data.code") }
})

const refundAll = Effect.fnUntraced(function*(order: Answer, card: string, balance: number) {
  const refund = yield* post(`/api/orders/${order.text("data.id")}/refunds`, {})
  assert.strictEqual(refund.at("data.amount"), order.at("data.grandTotal"))
  assert.strictEqual((yield* cardAt(card)).at("data.balance"), balance)
})

const sell = (body: object) =>
  Effect.gen(function*() {
    const [entityId, warehouseId] = [yield* aProduct({ price: 1_200 }), yield* aWarehouse()]
    return yield* api("POST", "/api/till/sales", { as: asAdmin, body: { entityId, warehouseId, ...body } })
  })

layer(testAppLayer(settings(true)), live)("single-purpose stored value, where prices include tax", (it) => {
  it.effect("is taxed when it is sold, and what it pays for is not", () =>
    Effect.gen(function*() {
      const { code, id } = yield* bought([5_000, 0, 0, 833, 5_000])
      const cart = yield* aCartWith(yield* aProduct({ price: 10_000 }))
      // 4,762 of the shirt and 238 of shipping were taxed before.
      const order = yield* sameEverywhere(cart, [code], {}, [10_000, 0, 500, 917, 10_500])
      assert.deepStrictEqual(paidIn(order, "data.tenders"), [5_000, 5_500])
      assert.strictEqual(order.at("data.metadata.alreadyTaxed"), 5_000)
      const invoice = yield* api("GET", `/api/orders/${order.text("data.id")}/invoice.html`, { as: asAdmin })
      assert.include(String(invoice.body), "Paid with vouchers that were taxed when they were sold: $50.00")
      assert.strictEqual((yield* cardAt(id)).at("data.balance"), 0)
      yield* refundAll(order, id, 5_000)
    }))

  it.effect("leaves no tax where it pays for everything, also as the payment method", () =>
    Effect.gen(function*() {
      yield* tax
      const shirt = yield* aProduct({ price: 10_000 })
      const { code } = yield* aCard(100_000)
      const order = yield* sameEverywhere(yield* aCartWith(shirt), [code], {}, [10_000, 0, 500, 0, 10_500])
      assert.deepStrictEqual(paidIn(order, "data.tenders"), [10_500])
      const byToken = yield* checkOut(yield* aCartWith(shirt), {
        paymentMethodId: "gift-card",
        paymentMethodToken: code
      })
      assert.deepStrictEqual([byToken.status, billOf(byToken, "data")], [201, [10_000, 0, 500, 0, 10_500]])
      const short = { paymentMethodId: "gift-card", paymentMethodToken: (yield* aCard(8_000)).code }
      checkoutFailed(yield* checkOut(yield* aCartWith(shirt), short), /The payments do not cover the total\./)
    }))

  it.effect("pays first and by its share of each rate, beside another gift card and a promotion", () =>
    Effect.gen(function*() {
      const book = yield* aReduced(5_500)
      const cart = yield* aCartWith(yield* aProduct({ price: 6_000 }))
      yield* addTo(cart, book)
      const [usual, single] = [yield* aCard(3_000, { singlePurpose: false }), yield* aCard(5_425)]
      yield* post("/api/promotions", { code: "TEN", name: "Ten", type: "percentage_off_order", value: 10 })
      // Half of 5,400 at 20 %, of 4,950 at 10 % and of 500 for shipping.
      const order = yield* sameEverywhere(
        cart,
        [usual.code, single.code],
        { promotionCodes: ["TEN"] },
        [11_500, 1_150, 500, 450 + 225 + 42, 10_850]
      )
      assert.deepStrictEqual(paidIn(order, "data.tenders"), [5_425, 3_000, 2_425])
      assert.deepStrictEqual(linesOf(order), [472, 245])
      yield* refundAll(order, single.id, 5_425)
      assert.strictEqual((yield* cardAt(usual.id)).at("data.balance"), 3_000)
    }))

  it.effect("pays no more than its tender names, and says nothing where none is named", () =>
    Effect.gen(function*() {
      yield* tax
      const shirt = yield* aProduct({ price: 11_500 })
      const tenders = [{ method: "gift-card", token: (yield* aCard(9_000)).code, amount: 6_000 }]
      const order = yield* checkOut(yield* aCartWith(shirt), { tenders })
      assert.deepStrictEqual([order.at("data.taxTotal"), paidIn(order, "data.tenders")], [1_000, [6_000, 6_000]])
      const claimed = yield* checkOut(yield* aCartWith(shirt), { metadata: { alreadyTaxed: 12_000 } })
      assert.deepStrictEqual(
        [claimed.at("data.taxTotal"), claimed.at("data.metadata.alreadyTaxed") ?? null],
        [2_000, null]
      )
    }))

  it.effect("is replaced by a card that is taxed like it", () =>
    Effect.gen(function*() {
      const shirt = yield* aProduct({ price: 1_000 })
      for (const singlePurpose of [true, false]) {
        const { code, id } = yield* aCard(1_500, { singlePurpose })
        const order = yield* checkOut(yield* aCartWith(shirt), { giftCardCodes: [code] })
        assert.strictEqual(order.status, 201, JSON.stringify(order.body))
        yield* post(`/api/gift-cards/${id}/disable`, {})
        yield* post(`/api/orders/${order.text("data.id")}/refunds`, {})
        const made = yield* api("GET", `/api/gift-cards?sourceOrderId=${order.text("data.id")}`, { as: asAdmin })
        assert.deepStrictEqual([made.at("data.0.balance"), made.at("data.0.singlePurpose")], [1_500, singlePurpose])
      }
    }))

  it.effect("is not taxed again at a till, which asks the card", () =>
    Effect.gen(function*() {
      yield* tax
      const taxOf = (sold: Answer) => [sold.status, sold.at("data.taxTotal")]
      for (const [singlePurpose, taxed] of [[true, 0], [false, 200]] as const) {
        const { code: card } = yield* aCard(1_200, { singlePurpose })
        const gift = { method: "gift-card", paid: 1_200, id: `gift-${singlePurpose}`, card }
        assert.deepStrictEqual(taxOf(yield* sell(gift)), [201, taxed])
      }
      assert.deepStrictEqual(taxOf(yield* sell({ method: "test", paid: 1_200, id: "cash" })), [201, 200])
    }))
})

layer(testAppLayer(settings(false)), live)("single-purpose stored value, where tax comes on top", (it) => {
  it.effect("is worth its price before tax, and pays amounts before tax", () =>
    Effect.gen(function*() {
      const { code, id } = yield* bought([5_000, 0, 0, 1_000, 6_000])
      const cart = yield* aCartWith(yield* aProduct({ price: 10_000 }))
      const order = yield* sameEverywhere(cart, [code], {}, [10_000, 0, 500, 1_100, 11_600])
      assert.deepStrictEqual(paidIn(order, "data.tenders"), [5_000, 6_600])
      yield* refundAll(order, id, 5_000)
    }))

  it.effect("leaves no tax where it pays for everything, and does not pay for what stored value may not", () =>
    Effect.gen(function*() {
      yield* tax
      const cart = yield* aCartWith(yield* aProduct({ price: 10_000 }))
      const { code, id } = yield* aCard(100_000)
      const order = yield* sameEverywhere(cart, [code], {}, [10_000, 0, 500, 0, 10_500])
      assert.deepStrictEqual(paidIn(order, "data.tenders"), [10_500])
      yield* refundAll(order, id, 100_000)
      const both = yield* aCartWith(yield* aProduct({ price: 10_000 }))
      yield* addTo(both, yield* aProduct({ type: "gift_card", price: 5_000, stock: 0 }))
      const mixed = yield* sameEverywhere(both, [code], {}, [15_000, 0, 500, 1_000, 16_500])
      assert.deepStrictEqual(paidIn(mixed, "data.tenders"), [10_500, 6_000])
    }))

  it.effect("pays first and by its share of each rate, beside another gift card and a promotion", () =>
    Effect.gen(function*() {
      const book = yield* aReduced(5_500)
      const cart = yield* aCartWith(yield* aProduct({ price: 6_000 }))
      yield* addTo(cart, book)
      const [usual, single] = [yield* aCard(30_000, { singlePurpose: false }), yield* aCard(5_425)]
      yield* post("/api/promotions", { code: "TEN", name: "Ten", type: "percentage_off_order", value: 10 })
      const order = yield* sameEverywhere(
        cart,
        [usual.code, single.code],
        { promotionCodes: ["TEN"] },
        [11_500, 1_150, 500, 540 + 248 + 50, 10_850 + 838]
      )
      assert.deepStrictEqual(paidIn(order, "data.tenders"), [5_425, 10_850 + 838 - 5_425])
    }))

  it.effect("must come to the total at a till", () =>
    Effect.gen(function*() {
      yield* tax
      const gift = { method: "gift-card", card: (yield* aCard(10_000)).code }
      const sold = yield* sell({ ...gift, id: "net", paid: 1_200 })
      assert.deepStrictEqual([sold.status, sold.at("data.grandTotal")], [201, 1_200])
      refused(yield* sell({ ...gift, id: "gross", paid: 1_440 }), 422, "VALIDATION_FAILED")
    }))

  it.effect("counts in the totals that a checkout answers which expects another one", () =>
    Effect.gen(function*() {
      yield* tax
      const cart = yield* aCartWith(yield* aProduct({ price: 10_000 }))
      const changed = yield* checkOut(cart, { giftCardCodes: [(yield* aCard(5_000)).code], expectedTotal: 12_600 })
      refused(changed, 409, "PRICE_CHANGED")
      assert.strictEqual(changed.at("error.details.totals.grandTotal"), 11_600, JSON.stringify(changed.body))
    }))
})
