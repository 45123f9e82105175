import { assert } from "@effect/vitest"
import { Effect } from "effect"
import { elsewhere, onDatabase, openElsewhere, refused } from "../../../../../test/checkout/CheckoutFixtures.ts"
import { aProduct } from "../../../../../test/support/Purchase.ts"
import { api, asAdmin } from "../../../../../test/support/TestApp.ts"
import { anOrderOf, aProductOf, asVendor, aVendor, entriesOf, owedTo, subOrderOf } from "../MarketBuilder.ts"
import { assertOnce, withMarketplace } from "../VendorShop.ts"

const withMarket = withMarketplace()

/** A vendor with a paid order of one product of the vendor and one of the store. */
const aSale = Effect.fnUntraced(function*(price = 1000, holdbackDays = 7) {
  const vendor = yield* aVendor({ holdbackDays })
  const orderId = yield* anOrderOf([[yield* aProductOf(vendor, { price }), 2], [yield* aProduct({ price: 300 })]])
  const id = (yield* subOrderOf(orderId, vendor)).text("data.id")
  return { vendor, orderId, id }
})

type Sale = Effect.Success<ReturnType<typeof aSale>>

const act = ({ id, vendor }: Pick<Sale, "id" | "vendor">, action: string, body: object = {}) =>
  api("POST", `/api/marketplace/vendor/me/orders/${id}/${action}`, { as: asVendor(vendor), body })

const move = (id: string, status: string, reason?: string) =>
  api("PATCH", `/api/marketplace/sub-orders/${id}/status`, { as: asAdmin, body: { status, reason } })

const refundsOf = (orderId: string) =>
  onDatabase((sql) => sql`select amount from refunds where order_id = ${orderId}::uuid`)

withMarket("a vendor", (it) => {
  it.effect("a vendor takes its part of an order all the way, and its money is free days after it arrived", () =>
    Effect.gen(function*() {
      const sale = yield* aSale(1000, 3)
      const confirmed = yield* act(sale, "confirm")
      assert.strictEqual(confirmed.status, 201, JSON.stringify(confirmed.body))
      assert.deepInclude(confirmed.at("data"), { status: "confirmed" })
      assert.deepInclude((yield* act(sale, "process")).at("data"), { status: "processing" })
      refused(yield* act(sale, "ship"), 422, "VALIDATION_FAILED")
      const shipped = yield* act(sale, "ship", { trackingNumber: "T1", carrier: "Post" })
      assert.deepInclude(shipped.at("data"), { status: "shipped", trackingNumber: "T1", carrier: "Post" })
      const delivered = yield* act(sale, "deliver")
      assert.deepInclude(delivered.at("data"), { status: "delivered", fulfillmentStatus: "fulfilled" })
      for (const name of ["confirmedAt", "shippedAt", "deliveredAt"]) assert.isString(delivered.at(`data.${name}`))
      const held = Date.parse(delivered.text("data.availableAt")) - Date.parse(delivered.text("data.deliveredAt"))
      assert.strictEqual(held, 3 * 86_400_000)
    }))

  it.effect("ships without preparing and without a carrier, and emits an event to subscribers", () =>
    Effect.gen(function*() {
      const sale = yield* aSale()
      yield* act(sale, "confirm")
      assert.strictEqual((yield* act(sale, "ship", { trackingNumber: "T2" })).status, 201)
      const recorded = yield* onDatabase((sql) =>
        sql`select payload->>'trackingNumber' as tracking from outbox_events
          where type = 'suborder.shipped' and entity_id = ${sale.id}`
      )
      assert.deepStrictEqual(recorded, [{ tracking: "T2" }])
    }))

  it.effect("a vendor cannot make transitions that the state table does not allow", () =>
    Effect.gen(function*() {
      const sale = yield* aSale()
      for (const [action, body] of [["process", {}], ["ship", { trackingNumber: "T" }], ["deliver", {}]] as const) {
        refused(yield* act(sale, action, body), 422, "INVALID_TRANSITION")
      }
      yield* act(sale, "confirm")
      refused(yield* act(sale, "confirm"), 422, "INVALID_TRANSITION")
      yield* act(sale, "ship", { trackingNumber: "T" })
      refused(yield* act(sale, "cancel", { reason: "too late" }), 422, "INVALID_TRANSITION")
      yield* act(sale, "deliver")
      refused(yield* act(sale, "cancel", { reason: "too late" }), 422, "INVALID_TRANSITION")
      assert.deepInclude(yield* owedTo(sale.vendor), { balance: 1800, exact: true })
    }))

  it.effect("moves once when eight ask at once", () =>
    Effect.gen(function*() {
      const sale = yield* aSale()
      yield* assertOnce(act(sale, "confirm"))
    }))

  it.effect("cancels, and the customer gets the money of its lines back once, however many ask", () =>
    Effect.gen(function*() {
      const sale = yield* aSale()
      yield* assertOnce(act(sale, "cancel", { reason: "broken" }))
      assert.deepStrictEqual(yield* refundsOf(sale.orderId), [{ amount: 2000n }])
      const order = yield* api("GET", `/api/orders/${sale.orderId}`, { as: asAdmin })
      assert.deepInclude(order.at("data"), { refundedTotal: 2000, grandTotal: 2300 })
      const after = yield* subOrderOf(sale.orderId, sale.vendor)
      assert.deepInclude(after.at("data"), {
        status: "cancelled",
        cancellationReason: "broken",
        refundedAmount: 2000,
        commissionAmount: 0,
        payoutAmount: 0
      })
      assert.deepStrictEqual(yield* entriesOf(sale.vendor), [
        ["sale", 2000],
        ["commission", -200],
        ["refund_deduction", -2000],
        ["commission_reversal", 200]
      ])
    }))

  it.effect("gives back no more than the order has left", () =>
    Effect.gen(function*() {
      const sale = yield* aSale()
      yield* api("POST", `/api/orders/${sale.orderId}/refunds`, { as: asAdmin, body: { amount: 1300 } })
      const cancelled = yield* act(sale, "cancel", { reason: "gone" })
      assert.strictEqual(cancelled.status, 201, JSON.stringify(cancelled.body))
      const order = yield* api("GET", `/api/orders/${sale.orderId}`, { as: asAdmin })
      assert.deepInclude(order.at("data"), { refundedTotal: 2300 })
      assert.deepInclude(yield* owedTo(sale.vendor), { balance: 0, exact: true })
    }))

  it.effect("lists, filters and changes sub-orders of the vendor, and no others", () =>
    Effect.gen(function*() {
      const [own, other] = [yield* aSale(), yield* aSale()]
      yield* act(own, "confirm")
      const listed = (status = "") =>
        api("GET", `/api/marketplace/vendor/me/orders${status}`, { as: asVendor(own.vendor) })
      const all = yield* listed()
      assert.strictEqual(all.list("data").length, 1)
      assert.deepInclude(all.at("meta.pagination"), { page: 1, limit: 20, total: 1, totalPages: 1 })
      assert.strictEqual((yield* listed("?status=confirmed")).text("data.0.id"), own.id)
      assert.deepStrictEqual((yield* listed("?status=shipped")).list("data"), [])
      const path = `/api/marketplace/vendor/me/orders/${other.id}`
      refused(yield* api("GET", path, { as: asVendor(own.vendor) }), 404, "NOT_FOUND")
      for (const action of ["confirm", "process", "ship", "deliver", "cancel"]) {
        const body = { reason: "r", trackingNumber: "T" }
        refused(yield* act({ id: other.id, vendor: own.vendor }, action, body), 404, "NOT_FOUND")
      }
      assert.deepInclude((yield* subOrderOf(other.orderId, other.vendor)).at("data"), { status: "pending" })
    }))
})

withMarket("staff of a marketplace", (it) => {
  it.effect("finds sub-orders of the operator's organization by order, vendor and status", () =>
    Effect.gen(function*() {
      const sale = yield* aSale()
      yield* act(sale, "confirm")
      const found = (query: string) =>
        Effect.map(
          api("GET", `/api/marketplace/sub-orders?${query}`, { as: asAdmin }),
          (answer) => answer.list("data").map((one) => Reflect.get(Object(one), "id"))
        )
      assert.deepStrictEqual(yield* found(`vendorId=${sale.vendor}`), [sale.id])
      assert.deepStrictEqual(yield* found(`vendorId=${sale.vendor}&status=confirmed`), [sale.id])
      assert.deepStrictEqual(yield* found(`orderId=${sale.orderId}&status=pending`), [])
      yield* openElsewhere
      refused(yield* api("GET", `/api/marketplace/sub-orders/${sale.id}`, { as: elsewhere }), 404, "NOT_FOUND")
      const all = yield* api("GET", `/api/marketplace/sub-orders?orderId=${sale.orderId}`, { as: elsewhere })
      assert.deepStrictEqual(all.list("data"), [])
    }))

  it.effect("moves a part to any status and back, but not out of an end", () =>
    Effect.gen(function*() {
      const { id } = yield* aSale()
      const shipped = yield* move(id, "shipped")
      assert.strictEqual(shipped.status, 200, JSON.stringify(shipped.body))
      assert.isString(shipped.at("data.shippedAt"))
      const back = yield* move(id, "confirmed")
      assert.deepInclude(back.at("data"), { status: "confirmed", shippedAt: null })
      assert.deepInclude((yield* move(id, "confirmed")).at("data"), { status: "confirmed" })
      assert.isString((yield* move(id, "delivered")).at("data.availableAt"))
      for (const status of ["pending", "shipped", "cancelled"]) {
        refused(yield* move(id, status), 422, "INVALID_TRANSITION")
      }
      refused(yield* move(id, "lost"), 422, "VALIDATION_FAILED")
    }))

  it.effect("cancels a part as its vendor does, with the money", () =>
    Effect.gen(function*() {
      const sale = yield* aSale()
      const cancelled = yield* move(sale.id, "cancelled", "no more of them")
      assert.deepInclude(cancelled.at("data"), { status: "cancelled", cancellationReason: "no more of them" })
      assert.deepStrictEqual(yield* refundsOf(sale.orderId), [{ amount: 2000n }])
      refused(yield* move(sale.id, "confirmed"), 422, "INVALID_TRANSITION")
    }))

  it.effect("cancels an unpaid order only as a whole", () =>
    Effect.gen(function*() {
      const [one, two] = [yield* aVendor(), yield* aVendor()]
      const [a, b] = [yield* aProductOf(one), yield* aProductOf(two)]
      const order = Effect.fnUntraced(function*(...entities: ReadonlyArray<string>) {
        const lineItems = entities.map((entityId) => ({ entityId, quantity: 1 }))
        return (yield* api("POST", "/api/orders", { as: asAdmin, body: { currency: "USD", lineItems } })).text(
          "data.id"
        )
      })
      const both = yield* order(a, b)
      const part = (yield* subOrderOf(both, one)).text("data.id")
      refused(yield* move(part, "cancelled"), 409, "CONFLICT")
      assert.deepInclude((yield* subOrderOf(both, one)).at("data"), { status: "pending" })
      const single = yield* order(a)
      const whole = (yield* subOrderOf(single, one)).text("data.id")
      const answers = yield* Effect.all(
        Array.from({ length: 8 }, () => act({ id: whole, vendor: one }, "cancel", { reason: "none left" })),
        { concurrency: "unbounded" }
      )
      assert.strictEqual(answers.filter(({ status }) => status === 201).length, 1, JSON.stringify(answers))
      assert.deepInclude((yield* api("GET", `/api/orders/${single}`, { as: asAdmin })).at("data"), {
        status: "cancelled"
      })
      assert.deepInclude((yield* subOrderOf(single, one)).at("data"), { cancellationReason: "none left" })
      assert.deepInclude(yield* owedTo(one), { entries: 0 })
    }))
})
