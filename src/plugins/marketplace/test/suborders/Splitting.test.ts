import { assert } from "@effect/vitest"
import { Effect } from "effect"
import { onDatabase } from "../../../../../test/checkout/CheckoutFixtures.ts"
import { orderInApp } from "../../../../../test/support/OrderBuilder.ts"
import { aProduct } from "../../../../../test/support/Purchase.ts"
import { type Answer, asAdmin, asStaff } from "../../../../../test/support/TestApp.ts"
import { accountOf, balanceOf, entriesOf } from "../Books.ts"
import { asVendor, done, refused } from "../Calls.ts"
import { flaky, mood } from "../FlakyPayments.ts"
import { anOrderOf, aProductOf, aVendor, giveTo, subOrderOf, subOrdersOf } from "../Goods.ts"
import { market } from "../Market.ts"

const refund = (orderId: string, body: object) => done(asStaff, `POST /api/orders/${orderId}/refunds`, body)
const change = (orderId: string, status: string, reason?: string) =>
  done(asAdmin, `PATCH /api/orders/${orderId}/status`, { status, reason })

const lineOf = Effect.fnUntraced(function*(orderId: string, entityId: string) {
  const order = yield* done(asAdmin, `GET /api/orders/${orderId}`)
  return Object(order.list("data.lineItems").find((line) => Object(line).entityId === entityId)).id
})

/** Subtotal, what was given back of it, commission and payout. */
const amounts = (answer: Answer) =>
  ["subtotal", "refundedAmount", "commissionAmount", "payoutAmount"].map((name) => answer.at(`data.${name}`))
const amountsOf = (orderId: string, vendorId: string) => Effect.map(subOrderOf(orderId, vendorId), amounts)

/** Vendors with a product at each of these prices. */
const shops = (...prices: ReadonlyArray<number>) =>
  Effect.forEach(prices, (price) =>
    Effect.gen(function*() {
      const vendorId = yield* aVendor()
      return [vendorId, yield* aProductOf(vendorId, { price })] as const
    }))

market()("an order of several vendors", (test) => {
  test("has a sub-order for each of them, and none for what is the store's own", function*() {
    const [one, two] = [yield* aVendor(), yield* aVendor({ commissionRateBps: 2500 })]
    const [a, b] = [yield* aProductOf(one, { price: 1000 }), yield* aProductOf(two, { price: 330 })]
    const orderId = yield* anOrderOf([[a, 2], [b], [yield* aProduct({ price: 777 })]])
    assert.strictEqual((yield* subOrdersOf(orderId)).list("data").length, 2)
    const first = yield* subOrderOf(orderId, one)
    assert.deepInclude(first.at("data"), { status: "pending", currency: "USD", orderId, onHold: false })
    const line = { entityId: a, quantity: 2, totalPrice: 2000, rateBps: 1000, commissionAmount: 200, ruleId: null }
    assert.deepInclude(first.at("data.lineItems.0"), line)
    // 330 at 25 % is 82.5: half goes to the even side.
    assert.deepStrictEqual([amounts(first), yield* amountsOf(orderId, two)], [[2000, 0, 200, 1800], [330, 0, 82, 248]])
    assert.deepStrictEqual(yield* entriesOf(one), [["sale", 2000], ["commission", -200]])
    assert.deepStrictEqual(yield* accountOf(two), { balance: 248, entries: 2, exact: true })
  })

  test("owes for what was really charged: discounts are the vendor's too", function*() {
    const [[vendorId, entityId] = ["", ""]] = yield* shops(10_005)
    const promotion = { name: "Half", code: "HALF5000", type: "fixed_off_order", value: 5000 }
    yield* done(asAdmin, "POST /api/promotions", promotion)
    const orderId = yield* anOrderOf([[entityId]], { promotionCodes: ["HALF5000"] })
    assert.deepStrictEqual(yield* amountsOf(orderId, vendorId), [5005, 0, 500, 4505])
  })

  test("takes back of the vendor what its lines gave back, and of the commission the same part", function*() {
    const [[one, a] = ["", ""], [two, b] = ["", ""]] = yield* shops(1000, 500)
    const orderId = yield* anOrderOf([[a, 3], [b]])
    yield* refund(orderId, { lines: [{ lineItemId: yield* lineOf(orderId, a), quantity: 1 }] })
    assert.deepStrictEqual(yield* amountsOf(orderId, one), [3000, 1000, 200, 1800])
    assert.deepStrictEqual((yield* entriesOf(one)).slice(2), [["refund_deduction", -1000], [
      "commission_reversal",
      100
    ]])
    assert.strictEqual(yield* balanceOf(two), 450)
    yield* refund(orderId, {})
    assert.deepStrictEqual([yield* balanceOf(one), yield* balanceOf(two)], [0, 0])
    assert.deepStrictEqual(yield* amountsOf(orderId, two), [500, 500, 0, 0])
  })

  test("takes its sub-orders along when it is cancelled, and everything that was owed for them", function*() {
    const [[vendorId, entityId] = ["", ""]] = yield* shops(990)
    const orderId = yield* anOrderOf([[entityId]])
    yield* change(orderId, "cancelled", "changed her mind")
    const gone = yield* subOrderOf(orderId, vendorId)
    assert.deepInclude(gone.at("data"), { status: "cancelled", cancellationReason: "changed her mind" })
    assert.isString(gone.at("data.cancelledAt"))
    assert.deepStrictEqual(amounts(gone), [990, 990, 0, 0])
    assert.deepStrictEqual(yield* accountOf(vendorId), { balance: 0, entries: 4, exact: true })
  })

  test("is split again after each edit before payment, and owes its vendors nothing", function*() {
    const [[one, a] = ["", ""], [two, b] = ["", ""]] = yield* shops(1000, 500)
    const lineItems = [{ entityId: a, quantity: 1 }]
    const orderId = (yield* done(asAdmin, "POST /api/orders", { currency: "USD", lineItems })).text("data.id")
    const lines = `/api/orders/${orderId}/line-items`
    const add = done(asAdmin, `POST ${lines}`, { entityId: b, quantity: 2 })
    yield* add
    assert.deepStrictEqual([yield* amountsOf(orderId, one), yield* amountsOf(orderId, two)], [
      [1000, 0, 100, 900],
      [1000, 0, 100, 900]
    ])
    const line = yield* lineOf(orderId, b)
    yield* done(asAdmin, `PATCH ${lines}/${line}`, { quantity: 1 })
    assert.deepStrictEqual(yield* amountsOf(orderId, two), [500, 0, 50, 450])
    yield* done(asAdmin, `DELETE ${lines}/${line}`)
    const without = { status: "cancelled", lineItems: [], payoutAmount: 0 }
    assert.deepInclude((yield* subOrderOf(orderId, two)).at("data"), without)
    yield* add
    const back = { status: "pending", cancelledAt: null, payoutAmount: 900 }
    assert.deepInclude((yield* subOrderOf(orderId, two)).at("data"), back)
    yield* change(orderId, "cancelled")
    assert.deepInclude((yield* subOrderOf(orderId, one)).at("data"), { status: "cancelled", payoutAmount: 0 })
    for (const vendorId of [one, two]) assert.strictEqual((yield* accountOf(vendorId)).entries, 0)
  })

  test("keeps its vendors and their terms when entities or rules change", function*() {
    const [[one, a] = ["", ""]] = yield* shops(1000)
    const [late, own] = [yield* aVendor(), yield* aProduct({ price: 500 })]
    const orderId = yield* anOrderOf([[a, 2], [own]])
    yield* giveTo(late, own)
    const rule = { name: "more", type: "vendor_tier", vendorTier: "standard", vendorId: one, rateBps: 5000 }
    yield* done(asAdmin, "POST /commission-rules", rule)
    yield* refund(orderId, { lines: [{ lineItemId: yield* lineOf(orderId, a), quantity: 1 }] })
    assert.strictEqual((yield* subOrdersOf(orderId)).list("data").length, 1)
    assert.deepStrictEqual(yield* amountsOf(orderId, one), [2000, 1000, 100, 900])
    assert.strictEqual((yield* accountOf(late)).entries, 0)
  })

  test("is not fulfilled before every vendor has delivered or is out of it", function*() {
    const [[one, a] = ["", ""], [two, b] = ["", ""]] = yield* shops(1000, 500)
    const orderId = yield* anOrderOf([[a], [b]])
    const move = Effect.fnUntraced(function*(vendorId: string, status: string) {
      const id = (yield* subOrderOf(orderId, vendorId)).text("data.id")
      return yield* done(asAdmin, `PATCH /sub-orders/${id}/status`, { status })
    })
    yield* change(orderId, "confirmed")
    yield* change(orderId, "processing")
    const fulfil = refused("422 VALIDATION_FAILED", asAdmin, `PATCH /api/orders/${orderId}/status`, {
      status: "fulfilled"
    })
    assert.match((yield* fulfil).text("error.message"), /2 of the order's vendors/)
    yield* move(one, "delivered")
    assert.strictEqual((yield* done(asAdmin, `GET /api/orders/${orderId}`)).at("data.status"), "partially_fulfilled")
    yield* move(two, "delivered")
    assert.strictEqual((yield* done(asAdmin, `GET /api/orders/${orderId}`)).at("data.status"), "fulfilled")
  })
})

/** An order of one vendor, two units at 10.00, authorized and not captured. */
const authorized = Effect.gen(function*() {
  const [[vendorId, entityId] = ["", ""]] = yield* shops(1000)
  const orderId = yield* anOrderOf([[entityId, 2]], { paymentMethodId: "flaky" })
  return { vendorId, orderId, id: (yield* subOrderOf(orderId, vendorId)).text("data.id") }
})

const capture = (orderId: string, amount?: number) => done(asStaff, `POST /api/orders/${orderId}/capture`, { amount })

const whileRefusing = <A, E, R>(work: Effect.Effect<A, E, R>) =>
  Effect.acquireUseRelease(
    Effect.sync(() => mood.isRefusing = true),
    () => work,
    () => Effect.sync(() => mood.isRefusing = false)
  )

market({}, { payments: { adapters: [flaky], capture: "manual" } })("what a vendor is owed", (test) => {
  test("is nothing before the payment is captured, and its share of a part of it", function*() {
    const { orderId, vendorId } = yield* authorized
    assert.strictEqual((yield* accountOf(vendorId)).entries, 0)
    yield* capture(orderId, 1500)
    assert.strictEqual(yield* balanceOf(vendorId), 1350)
    assert.deepStrictEqual(yield* amountsOf(orderId, vendorId), [1500, 0, 150, 1350])
    yield* refund(orderId, {})
    assert.strictEqual(yield* balanceOf(vendorId), 0)
  })

  test("comes back with a refund that is undone, or refused by its provider", function*() {
    const { orderId, vendorId } = yield* authorized
    yield* capture(orderId)
    const failed = yield* whileRefusing(refund(orderId, { amount: 500 }))
    assert.deepStrictEqual([failed.at("data.status"), yield* balanceOf(vendorId)], ["failed", 1800])
    yield* onDatabase((sql) => sql`update orders set payment_provider = 'gone' where id = ${orderId}::uuid`)
    const made = yield* refund(orderId, { amount: 500 })
    assert.strictEqual(yield* balanceOf(vendorId), 1350)
    yield* done(asStaff, `POST /api/orders/${orderId}/refunds/${made.text("data.id")}/undo`)
    assert.strictEqual(yield* balanceOf(vendorId), 1800)
    assert.deepStrictEqual(yield* amountsOf(orderId, vendorId), [2000, 0, 200, 1800])
  })

  test("stays nothing for a sub-order that is cancelled, also when its refund is refused", function*() {
    const { id, orderId, vendorId } = yield* authorized
    yield* capture(orderId)
    const cancel = done(asVendor(vendorId), `POST /vendor/me/orders/${id}/cancel`, { reason: "none left" })
    assert.deepInclude((yield* whileRefusing(cancel)).at("data"), { status: "cancelled", payoutAmount: 0 })
    assert.strictEqual(yield* balanceOf(vendorId), 0)
  })

  test("is nothing of an order that is cancelled before it is captured", function*() {
    const { orderId, vendorId } = yield* authorized
    yield* change(orderId, "cancelled")
    assert.deepInclude((yield* subOrderOf(orderId, vendorId)).at("data"), { status: "cancelled", payoutAmount: 0 })
    assert.strictEqual((yield* accountOf(vendorId)).entries, 0)
  })

  test("is nothing of orders that were sold in another system", function*() {
    const order = yield* orderInApp({ status: "processing" })
    yield* giveTo(yield* aVendor(), order.lines[0]?.entityId ?? "")
    yield* onDatabase((sql) =>
      sql`update orders set imported_at = now(), placed_at = now() where id = ${order.id}::uuid`
    )
    yield* refund(order.id, { amount: 100 })
    assert.deepStrictEqual((yield* subOrdersOf(order.id)).list("data"), [])
  })
})
