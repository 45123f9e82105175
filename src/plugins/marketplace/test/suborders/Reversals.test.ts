import { assert } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { onDatabase } from "../../../../../test/checkout/CheckoutFixtures.ts"
import { buildOrder } from "../../../../../test/support/OrderBuilder.ts"
import { api, asAdmin, asStaff } from "../../../../../test/support/TestApp.ts"
import { flaky, mood } from "../FlakyPayments.ts"
import { anOrderOf, aProductOf, asVendor, aVendor, giveTo, owedTo, subOrderOf, subOrdersOf } from "../MarketBuilder.ts"
import { withMarketplace } from "../VendorShop.ts"

const withMarket = withMarketplace({}, { payments: { adapters: [flaky], capture: "manual" } })

/** An order of one vendor, two units at 10.00, authorized and not captured. */
const aSale = Effect.gen(function*() {
  const vendor = yield* aVendor()
  const orderId = yield* anOrderOf([[yield* aProductOf(vendor, { price: 1000 }), 2]], { paymentMethodId: "flaky" })
  return { vendor, orderId, id: (yield* subOrderOf(orderId, vendor)).text("data.id") }
})

const capture = (orderId: string, amount?: number) =>
  api("POST", `/api/orders/${orderId}/capture`, { as: asStaff, body: { amount } })

const refund = (orderId: string, body: object) => api("POST", `/api/orders/${orderId}/refunds`, { as: asStaff, body })

const balance = (vendor: string) =>
  Effect.map(owedTo(vendor), ({ balance, exact }) => (exact ? balance : "not the sum of its entries"))

withMarket("what a vendor is owed", (it) => {
  it.effect("what a vendor is owed is nothing before the payment is captured, and its share of a part of it", () =>
    Effect.gen(function*() {
      const sale = yield* aSale
      assert.deepInclude(yield* owedTo(sale.vendor), { entries: 0 })
      assert.strictEqual((yield* capture(sale.orderId, 1500)).status, 200)
      assert.strictEqual(yield* balance(sale.vendor), 1350)
      assert.deepInclude((yield* subOrderOf(sale.orderId, sale.vendor)).at("data"), {
        subtotal: 1500,
        payoutAmount: 1350
      })
      yield* refund(sale.orderId, {})
      assert.strictEqual(yield* balance(sale.vendor), 0)
    }))

  it.effect("what a vendor is owed comes back with a refund that is undone", () =>
    Effect.gen(function*() {
      const { orderId, vendor } = yield* aSale
      yield* capture(orderId)
      yield* onDatabase((sql) => sql`update orders set payment_provider = 'gone' where id = ${orderId}::uuid`)
      const made = yield* refund(orderId, { amount: 500 })
      assert.strictEqual(yield* balance(vendor), 1350)
      const path = `/api/orders/${orderId}/refunds/${made.text("data.id")}/undo`
      assert.strictEqual((yield* api("POST", path, { as: asStaff })).status, 200)
      assert.strictEqual(yield* balance(vendor), 1800)
      assert.deepInclude((yield* subOrderOf(orderId, vendor)).at("data"), { refundedAmount: 0, payoutAmount: 1800 })
    }))

  it.effect("what a vendor is owed comes back with a refund that its provider refuses", () =>
    Effect.gen(function*() {
      const { orderId, vendor } = yield* aSale
      yield* capture(orderId)
      mood.isRefusing = true
      const made = yield* refund(orderId, { amount: 500 })
      mood.isRefusing = false
      assert.strictEqual(made.at("data.status"), "failed", JSON.stringify(made.body))
      assert.strictEqual(yield* balance(vendor), 1800)
    }))

  it.effect("what a vendor is owed stays nothing for a sub-order that is cancelled, also when its refund is refused", () =>
    Effect.gen(function*() {
      const sale = yield* aSale
      yield* capture(sale.orderId)
      mood.isRefusing = true
      const call = { as: asVendor(sale.vendor), body: { reason: "none left" } }
      const cancelled = yield* api("POST", `/api/marketplace/vendor/me/orders/${sale.id}/cancel`, call)
      mood.isRefusing = false
      assert.deepInclude(cancelled.at("data"), { status: "cancelled", payoutAmount: 0 })
      assert.strictEqual(yield* balance(sale.vendor), 0)
    }))

  it.effect("what a vendor is owed is nothing of an order that is cancelled before it is captured", () =>
    Effect.gen(function*() {
      const { orderId, vendor } = yield* aSale
      yield* api("PATCH", `/api/orders/${orderId}/status`, { as: asAdmin, body: { status: "cancelled" } })
      assert.deepInclude((yield* subOrderOf(orderId, vendor)).at("data"), { status: "cancelled", payoutAmount: 0 })
      assert.deepInclude(yield* owedTo(vendor), { entries: 0 })
    }))

  it.effect("what a vendor is owed is nothing of orders that were sold in another system", () =>
    Effect.gen(function*() {
      const vendor = yield* aVendor()
      const order = yield* onDatabase((sql) =>
        Effect.provideService(buildOrder({ status: "processing" }), SqlClient.SqlClient, sql)
      )
      yield* giveTo(vendor, order.lines[0]?.entityId ?? "")
      yield* onDatabase((sql) =>
        sql`update orders set imported_at = now(), placed_at = now() where id = ${order.id}::uuid`
      )
      assert.strictEqual((yield* refund(order.id, { amount: 100 })).status, 201)
      assert.deepStrictEqual((yield* subOrdersOf(order.id)).list("data"), [])
    }))
})
