import { assert, layer } from "@effect/vitest"
import { DateTime, Effect } from "effect"
import { TestTime } from "../../src/plugins/kit/testing/ShiftedClock.ts"
import { rowsOf } from "../analytics/Questions.ts"
import { type Answer, api, asAdmin, at, live } from "../support/TestApp.ts"
import { aBuyer, anExemptFirm, bakery, type Buyer, openBakery, payments } from "./Bakery.ts"

const vienna = { line1: "Graben 1", city: "Wien", postalCode: "1010", country: "AT" }
const graz = { line1: "Herrengasse 3", city: "Graz", postalCode: "8010", country: "AT" }
const munich = { line1: "Tal 5", city: "Munich", postalCode: "80331", country: "DE" }

/** Amounts of a sale, in cents. */
interface Sale {
  readonly lines: ReadonlyArray<
    readonly [sold: string, quantity: number, subtotal: number, discount: number, tax: number]
  >
  readonly subtotal: number
  readonly discountTotal: number
  readonly shippingTotal: number
  readonly taxTotal: number
  readonly taxes: ReadonlyArray<readonly [name: string, rate: string, amount: number]>
  readonly grandTotal: number
  /** Paid with a gift card. */
  readonly byCard?: number
}

const totals = ["subtotal", "discountTotal", "shippingTotal", "taxTotal", "grandTotal"] as const

const amounts = (record: unknown) => Object.fromEntries(totals.map((name) => [name, at(record, name)]))

const amountsOf = (sale: Sale) => Object.fromEntries(totals.map((name) => [name, sale[name]]))

const taxesOf = (record: unknown) => {
  const taxes = at(record, "taxes")
  return Array.isArray(taxes) ? taxes.map((one) => [at(one, "name"), at(one, "rate"), at(one, "amount")]) : taxes
}

const linesOf = (lines: unknown, names: ReadonlyArray<string>) =>
  Array.isArray(lines) ? lines.map((line) => names.map((name) => at(line, name))) : lines

const euros = (cents: number) => `€${(cents / 100).toFixed(2)}`

const put = Effect.fnUntraced(
  function*({ call, cartId }: Buyer, goods: ReadonlyArray<readonly [item: object, quantity: number]>) {
    for (const [item, quantity] of goods) {
      const added = yield* api("POST", `/api/carts/${cartId}/items`, { ...call, body: { ...item, quantity } })
      assert.strictEqual(added.status, 201, JSON.stringify(added.body))
    }
  }
)

const read = ({ call, cartId }: Buyer) => api("GET", `/api/carts/${cartId}`, call)

const change = ({ call, cartId }: Buyer, body: object) => api("PATCH", `/api/carts/${cartId}`, { ...call, body })

const buy = ({ call, cartId }: Buyer, expectedTotal: number) =>
  api("POST", "/api/checkout", {
    ...call,
    body: { cartId, paymentMethodId: "counted", currency: "EUR", expectedTotal }
  })

/** Totals of the cart and both of its quotes are the sale. */
const quoted = Effect.fnUntraced(function*(buyer: Buyer, shippingAddress: object, sale: Sale) {
  const { call, cartId } = buyer
  const kept = yield* change(buyer, { email: "ada@example.com", shippingAddress, promotionCodes: ["advent"] })
  const tried = yield* api("POST", `/api/carts/${cartId}/quote`, { ...call, body: {} })
  for (const answer of [kept, yield* read(buyer), tried]) {
    const found = answer.at("data.totals")
    assert.deepStrictEqual(amounts(found), amountsOf(sale), JSON.stringify(found))
    assert.deepStrictEqual(taxesOf(found), sale.taxes)
    assert.deepStrictEqual(
      linesOf(at(found, "lines"), ["subtotal", "discount", "tax"]),
      sale.lines.map(([, , ...money]) => money)
    )
    assert.deepInclude(at(found, "shippingRates.0"), { estimate: "1 to 3 working days" })
    assert.deepInclude(found, { estimated: false, warnings: [], taxIncluded: true })
  }
  const body = { cartId, currency: "EUR", shippingAddress, promotionCodes: ["ADVENT"] }
  const quote = yield* api("POST", "/api/orders/quote", { as: asAdmin, body })
  assert.deepStrictEqual(amounts(quote.at("data")), amountsOf(sale), JSON.stringify(quote.body))
})

/** The total, the taxes and the lines that the invoice names. */
const invoiced = Effect.fnUntraced(function*(orderId: string, sale: Sale) {
  const page = yield* api("GET", `/api/orders/${orderId}/invoice.html`, { as: asAdmin })
  assert.strictEqual(page.status, 200)
  const html = String(page.body)
  const [, total] = /<table class="totals">.*?<tr class="strong"><td>[^<]*<\/td><td class="n">([^<]*)</s.exec(html) ??
    []
  assert.strictEqual(total, euros(sale.grandTotal))
  for (const [sold] of sale.lines) assert.include(html, `<td class="i">${sold}<`)
  for (const [name, rate, amount] of sale.taxes) {
    assert.match(
      html,
      new RegExp(`<td>${name} ${rate}%</td><td class="n">[^<]*</td><td class="n">${euros(amount)}</td>`)
    )
  }
})

/** Analytics of the order, and what providers and gift cards have taken for it, are the sale. */
const counted = Effect.fnUntraced(function*(order: Answer, sale: Sale) {
  const filters = [{ member: "Orders.id", operator: "equals", values: [order.text("data.id")] }]
  const measures = (model: string, ...names: ReadonlyArray<string>) =>
    rowsOf({ measures: names.map((name) => `${model}.${name}`), filters })
  assert.deepStrictEqual(
    yield* measures(
      "Orders",
      "revenue",
      "subtotalRevenue",
      "taxCollected",
      "shippingRevenue",
      "discountsGiven"
    ),
    [{
      "Orders.revenue": sale.grandTotal,
      "Orders.subtotalRevenue": sale.subtotal,
      "Orders.taxCollected": sale.taxTotal,
      "Orders.shippingRevenue": sale.shippingTotal,
      "Orders.discountsGiven": sale.discountTotal
    }]
  )
  assert.deepStrictEqual(yield* measures("OrderLineItems", "lineItemRevenue", "itemsSold"), [{
    "OrderLineItems.lineItemRevenue": sale.subtotal,
    "OrderLineItems.itemsSold": sale.lines.reduce((sum, [, quantity]) => sum + quantity, 0)
  }])
  assert.deepStrictEqual(yield* measures("Tenders", "amount", "captured"), [{
    "Tenders.amount": sale.grandTotal,
    "Tenders.captured": sale.grandTotal
  }])
  const { captured } = payments.bookOf(order.text("data.paymentIntentId"))
  assert.strictEqual(captured + (sale.byCard ?? 0), sale.grandTotal)
})

/** Buys the cart. Cart, quotes, order, invoice, analytics and captures are the sale. Gives the order as it is read. */
const sold = Effect.fnUntraced(function*(buyer: Buyer, shippingAddress: object, sale: Sale) {
  yield* quoted(buyer, shippingAddress, sale)
  const placed = yield* buy(buyer, sale.grandTotal)
  assert.strictEqual(placed.status, 201, JSON.stringify(placed.body))
  const order = yield* api("GET", `/api/orders/${placed.text("data.id")}`, { as: asAdmin })
  for (const one of [placed, order]) {
    assert.deepStrictEqual(amounts(one.at("data")), amountsOf(sale))
    assert.deepStrictEqual(taxesOf(one.at("data")), sale.taxes)
    assert.deepInclude(one.at("data"), { amountCaptured: sale.grandTotal, amountDue: 0 })
    assert.deepStrictEqual(
      linesOf(one.at("data.lineItems"), ["quantity", "totalPrice", "discountAmount", "taxAmount"]),
      sale.lines.map(([, ...money]) => money)
    )
  }
  yield* invoiced(order.text("data.id"), sale)
  yield* counted(order, sale)
  return order
})

layer(bakery, live)("a bakery in Vienna, on the last evening of a promotion", (it) => {
  it.effect("sells to a guest, an exempt firm and abroad: cart, quote, order, invoice, analytics and captures agree", () =>
    Effect.gen(function*() {
      const { bread, ends, giftCard, recipes, workshop } = yield* openBakery
      const late = yield* aBuyer()
      yield* put(late, [[recipes, 2]])
      const agreed = yield* change(late, { shippingAddress: vienna, promotionCodes: ["ADVENT"] })
      assert.strictEqual(agreed.at("data.totals.grandTotal"), 2_193)

      // 15 % of 126.40 off the goods: 18.96. A gift card of 20.00 pays a part, but not for the gift card.
      const card = yield* api("POST", "/api/gift-cards", { as: asAdmin, body: { amount: 2_000, currency: "EUR" } })
      const guest = yield* aBuyer()
      yield* put(guest, [[bread, 5], [workshop, 1], [recipes, 1], [giftCard, 1]])
      const withCard = yield* change(guest, { giftCardCodes: [card.text("data.code")] })
      assert.strictEqual(withCard.at("data.totals.tenders.0.amount"), 2_000)
      const order = yield* sold(guest, vienna, {
        lines: [
          ["Rye bread, 1 kg", 5, 2_450, 368, 205],
          ["Sourdough workshop", 1, 8_900, 1_335, 1_319],
          ["Recipes", 1, 1_290, 193, 108],
          ["Gift card", 1, 5_000, 0, 0]
        ],
        subtotal: 17_640,
        discountTotal: 1_896,
        shippingTotal: 490,
        taxTotal: 1_632,
        taxes: [["USt", "10", 289], ["USt", "20", 1_343]],
        grandTotal: 16_234,
        byCard: 2_000
      })
      assert.deepStrictEqual(
        linesOf(order.at("data.lineItems"), ["title", "variantTitle", "sku", "listPrice", "unitPrice", "backordered"]),
        [
          ["Rye bread", "1 kg", "RYE-1", 520, 490, 2],
          ["Sourdough workshop", null, null, 8_900, 8_900, 0],
          ["Recipes", null, null, 1_290, 1_290, 0],
          ["Gift card", null, null, 5_000, 5_000, 0]
        ]
      )
      assert.deepStrictEqual(order.at("data.lineItems.0.options"), [{ name: "Loaf", value: "1 kg" }])

      // The tax that prices contain is taken off: 3.48 + 12.61 + 0.82 of the shipping.
      const firm = yield* anExemptFirm("mission")
      yield* put(firm, [[bread, 10], [workshop, 1]])
      const exempt = yield* sold(firm, graz, {
        lines: [["Rye bread, 1 kg", 10, 4_500, 1_023, 0], ["Sourdough workshop", 1, 8_900, 2_596, 0]],
        subtotal: 13_400,
        discountTotal: 3_619,
        shippingTotal: 408,
        taxTotal: 0,
        taxes: [],
        grandTotal: 10_189
      })
      assert.deepInclude(exempt.at("data.taxExemption"), { reason: "Diplomatic mission", number: "A-17" })
      assert.strictEqual(exempt.at("data.lineItems.0.backordered"), 10)

      // A workshop ships nothing: no shipping is charged, and no address is needed.
      const learner = yield* aBuyer()
      yield* put(learner, [[workshop, 1]])
      const seat = yield* change(learner, { email: "ada@example.com" })
      assert.deepInclude(seat.at("data.totals"), {
        shippingTotal: 0,
        grandTotal: 8_900,
        shippingRates: [],
        missing: []
      })
      assert.strictEqual((yield* buy(learner, 8_900)).status, 201)

      const traveller = yield* aBuyer("traveller")
      yield* put(traveller, [[bread, 2], [recipes, 1]])
      yield* sold(traveller, munich, {
        lines: [["Rye bread, 1 kg", 2, 980, 147, 122], ["Recipes", 1, 1_290, 194, 162]],
        subtotal: 2_270,
        discountTotal: 341,
        shippingTotal: 990,
        taxTotal: 284,
        taxes: [["MwSt", "7", 126], ["MwSt", "19", 158]],
        grandTotal: 2_919
      })

      // After midnight in Vienna, though the day has not ended in UTC.
      const time = yield* TestTime
      time.advance(DateTime.toEpochMillis(ends) - time.now())
      const refused = yield* buy(late, 2_193)
      assert.deepStrictEqual([refused.status, refused.at("error.code")], [409, "PRICE_CHANGED"])
      const after = yield* read(late)
      assert.deepInclude(after.at("data.totals"), { discountTotal: 0, grandTotal: 2_580 })
      assert.strictEqual(after.at("data.totals.rejectedPromotionCodes.0.code"), "ADVENT")
      assert.deepStrictEqual(refused.at("error.details.totals"), after.at("data.totals"))
      assert.strictEqual((yield* buy(late, 2_580)).at("data.grandTotal"), 2_580)
    }))
})
