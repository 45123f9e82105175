import { assert } from "@effect/vitest"
import { Effect } from "effect"
import { aProduct } from "../../../../../test/support/Purchase.ts"
import { api, asAdmin, asStaff } from "../../../../../test/support/TestApp.ts"
import { anOrderOf, aProductOf, aVendor, entriesOf, giveTo, owedTo, subOrderOf, subOrdersOf } from "../MarketBuilder.ts"
import { withMarketplace } from "../VendorShop.ts"

const withMarket = withMarketplace()

const refund = (orderId: string, body: object) =>
  Effect.tap(
    api("POST", `/api/orders/${orderId}/refunds`, { as: asStaff, body }),
    (answer) => Effect.sync(() => assert.strictEqual(answer.status, 201, JSON.stringify(answer.body)))
  )

const lineOf = Effect.fnUntraced(function*(orderId: string, entityId: string) {
  const order = yield* api("GET", `/api/orders/${orderId}`, { as: asAdmin })
  const index = order.list("data.lineItems").findIndex((_, at) =>
    order.at(`data.lineItems.${at}.entityId`) === entityId
  )
  return order.text(`data.lineItems.${index}.id`)
})

const amountsOf = (answer: { readonly at: (path: string) => unknown }) =>
  ["subtotal", "refundedAmount", "commissionAmount", "payoutAmount"].map((name) => answer.at(`data.${name}`))

withMarket("an order of several vendors", (it) => {
  it.effect("an order of several vendors has a sub-order for each of them, and none for what is the store's own", () =>
    Effect.gen(function*() {
      const [one, two] = [yield* aVendor(), yield* aVendor({ commissionRateBps: 2500 })]
      const [a, b, own] = [
        yield* aProductOf(one, { price: 1000 }),
        yield* aProductOf(two, { price: 330 }),
        yield* aProduct({ price: 777 })
      ]
      const orderId = yield* anOrderOf([[a, 2], [b, 1], [own, 1]])
      assert.strictEqual((yield* subOrdersOf(orderId)).list("data").length, 2)
      const first = yield* subOrderOf(orderId, one)
      assert.deepInclude(first.at("data"), { status: "pending", currency: "USD", orderId, onHold: false })
      assert.deepStrictEqual(amountsOf(first), [2000, 0, 200, 1800])
      assert.deepInclude(first.at("data.lineItems.0"), {
        entityId: a,
        quantity: 2,
        totalPrice: 2000,
        rateBps: 1000,
        commissionAmount: 200,
        ruleId: null
      })
      // 330 at 25 % is 82.5: half goes to the even side.
      assert.deepStrictEqual(amountsOf(yield* subOrderOf(orderId, two)), [330, 0, 82, 248])
      assert.deepStrictEqual(yield* entriesOf(one), [["sale", 2000], ["commission", -200]])
      assert.deepStrictEqual(yield* owedTo(two), { balance: 248, entries: 2, sum: 248, exact: true })
    }))

  it.effect("owes for what was really charged: discounts are the vendor's too", () =>
    Effect.gen(function*() {
      const vendor = yield* aVendor()
      const entityId = yield* aProductOf(vendor, { price: 10_005 })
      yield* api("POST", "/api/promotions", {
        as: asAdmin,
        body: { name: "Half", code: "HALF5000", type: "fixed_off_order", value: 5000 }
      })
      const orderId = yield* anOrderOf([[entityId]], { promotionCodes: ["HALF5000"] })
      assert.deepStrictEqual(amountsOf(yield* subOrderOf(orderId, vendor)), [5005, 0, 500, 4505])
      assert.deepStrictEqual(yield* entriesOf(vendor), [["sale", 5005], ["commission", -500]])
    }))

  it.effect("an order of several vendors takes back of the vendor what its lines gave back, and of the commission the same part", () =>
    Effect.gen(function*() {
      const [one, two] = [yield* aVendor(), yield* aVendor()]
      const [a, b] = [yield* aProductOf(one, { price: 1000 }), yield* aProductOf(two, { price: 500 })]
      const orderId = yield* anOrderOf([[a, 3], [b, 1]])
      yield* refund(orderId, { lines: [{ lineItemId: yield* lineOf(orderId, a), quantity: 1 }] })
      assert.deepStrictEqual(amountsOf(yield* subOrderOf(orderId, one)), [3000, 1000, 200, 1800])
      assert.deepStrictEqual(yield* entriesOf(one), [
        ["sale", 3000],
        ["commission", -300],
        ["refund_deduction", -1000],
        ["commission_reversal", 100]
      ])
      assert.deepInclude(yield* owedTo(two), { balance: 450, exact: true })
      yield* refund(orderId, {})
      assert.deepInclude(yield* owedTo(one), { balance: 0, exact: true })
      assert.deepInclude(yield* owedTo(two), { balance: 0, exact: true })
      assert.deepStrictEqual(amountsOf(yield* subOrderOf(orderId, two)), [500, 500, 0, 0])
    }))

  it.effect("splits an amount that names no line over all lines", () =>
    Effect.gen(function*() {
      const [one, two] = [yield* aVendor(), yield* aVendor()]
      const orderId = yield* anOrderOf([
        [yield* aProductOf(one, { price: 1000 })],
        [yield* aProductOf(two, { price: 500 })],
        [yield* aProduct({ price: 500 })]
      ])
      yield* refund(orderId, { amount: 201 })
      // 100.5, 50.25 and 50.25: the cent that is left goes to the largest fraction.
      assert.deepInclude((yield* subOrderOf(orderId, one)).at("data"), { refundedAmount: 101 })
      assert.deepInclude((yield* subOrderOf(orderId, two)).at("data"), { refundedAmount: 50 })
      yield* refund(orderId, {})
      assert.deepInclude(yield* owedTo(one), { balance: 0, exact: true })
      assert.deepInclude(yield* owedTo(two), { balance: 0, exact: true })
    }))

  it.effect("an order of several vendors that is cancelled takes its sub-orders along, and everything that was owed for them", () =>
    Effect.gen(function*() {
      const vendor = yield* aVendor()
      const orderId = yield* anOrderOf([[yield* aProductOf(vendor, { price: 990 })]])
      yield* api("PATCH", `/api/orders/${orderId}/status`, {
        as: asAdmin,
        body: { status: "cancelled", reason: "changed her mind" }
      })
      const gone = yield* subOrderOf(orderId, vendor)
      assert.deepInclude(gone.at("data"), { status: "cancelled", cancellationReason: "changed her mind" })
      assert.isString(gone.at("data.cancelledAt"))
      assert.deepStrictEqual(amountsOf(gone), [990, 990, 0, 0])
      assert.deepStrictEqual(yield* owedTo(vendor), { balance: 0, entries: 4, sum: 0, exact: true })
    }))

  it.effect("splits an unpaid order after each edit, and owes its vendors nothing", () =>
    Effect.gen(function*() {
      const [one, two] = [yield* aVendor(), yield* aVendor()]
      const [a, b] = [yield* aProductOf(one, { price: 1000 }), yield* aProductOf(two, { price: 500 })]
      const made = yield* api("POST", "/api/orders", {
        as: asAdmin,
        body: { currency: "USD", lineItems: [{ entityId: a, quantity: 1 }] }
      })
      const orderId = made.text("data.id")
      assert.deepStrictEqual(amountsOf(yield* subOrderOf(orderId, one)), [1000, 0, 100, 900])
      const add = api("POST", `/api/orders/${orderId}/line-items`, { as: asAdmin, body: { entityId: b, quantity: 2 } })
      assert.strictEqual((yield* add).status, 201)
      assert.deepStrictEqual(amountsOf(yield* subOrderOf(orderId, two)), [1000, 0, 100, 900])
      const line = yield* lineOf(orderId, b)
      yield* api("PATCH", `/api/orders/${orderId}/line-items/${line}`, { as: asAdmin, body: { quantity: 1 } })
      assert.deepStrictEqual(amountsOf(yield* subOrderOf(orderId, two)), [500, 0, 50, 450])
      yield* api("DELETE", `/api/orders/${orderId}/line-items/${line}`, { as: asAdmin })
      const without = yield* subOrderOf(orderId, two)
      assert.deepInclude(without.at("data"), { status: "cancelled", lineItems: [], payoutAmount: 0 })
      yield* add
      assert.deepInclude((yield* subOrderOf(orderId, two)).at("data"), {
        status: "pending",
        cancelledAt: null,
        payoutAmount: 900
      })
      for (const vendor of [one, two]) assert.deepInclude(yield* owedTo(vendor), { entries: 0 })
      yield* api("PATCH", `/api/orders/${orderId}/status`, { as: asAdmin, body: { status: "cancelled" } })
      assert.deepInclude((yield* subOrderOf(orderId, one)).at("data"), { status: "cancelled", payoutAmount: 0 })
      for (const vendor of [one, two]) assert.deepInclude(yield* owedTo(vendor), { entries: 0 })
    }))

  it.effect("keeps vendors and terms of an order when entities or rules change", () =>
    Effect.gen(function*() {
      const [one, late] = [yield* aVendor(), yield* aVendor()]
      const [a, own] = [yield* aProductOf(one, { price: 1000 }), yield* aProduct({ price: 500 })]
      const orderId = yield* anOrderOf([[a, 2], [own, 1]])
      yield* giveTo(late, own)
      yield* api("POST", "/api/marketplace/commission-rules", {
        as: asAdmin,
        body: { name: "more", type: "vendor_tier", vendorTier: "standard", vendorId: one, rateBps: 5000 }
      })
      yield* refund(orderId, { lines: [{ lineItemId: yield* lineOf(orderId, a), quantity: 1 }] })
      assert.strictEqual((yield* subOrdersOf(orderId)).list("data").length, 1)
      assert.deepStrictEqual(amountsOf(yield* subOrderOf(orderId, one)), [2000, 1000, 100, 900])
      assert.deepInclude(yield* owedTo(late), { entries: 0 })
    }))

  it.effect("an order of several vendors is not fulfilled before every vendor has delivered or is out of it", () =>
    Effect.gen(function*() {
      const [one, two] = [yield* aVendor(), yield* aVendor()]
      const orderId = yield* anOrderOf([
        [yield* aProductOf(one, { price: 1000 })],
        [yield* aProductOf(two, { price: 500 })]
      ])
      const move = (status: string) => api("PATCH", `/api/orders/${orderId}/status`, { as: asAdmin, body: { status } })
      const place = Effect.fnUntraced(function*(vendor: string, status: string) {
        const id = (yield* subOrderOf(orderId, vendor)).text("data.id")
        return yield* api("PATCH", `/api/marketplace/sub-orders/${id}/status`, { as: asAdmin, body: { status } })
      })
      if ((yield* api("GET", `/api/orders/${orderId}`, { as: asAdmin })).at("data.status") === "pending") {
        yield* move("confirmed")
      }
      yield* move("processing")
      const refused = yield* move("fulfilled")
      assert.strictEqual(refused.status, 422, JSON.stringify(refused.body))
      assert.match(refused.text("error.message"), /2 of the order's vendors/)
      assert.strictEqual((yield* place(one, "delivered")).status, 200)
      assert.strictEqual((yield* move("fulfilled")).status, 422)
      yield* place(two, "delivered")
      const done = yield* api("GET", `/api/orders/${orderId}`, { as: asAdmin })
      assert.strictEqual(done.at("data.status"), "fulfilled")
    }))
})
