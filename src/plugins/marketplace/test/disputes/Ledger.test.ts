import { assert } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { eventually } from "../../../../../test/support/Eventually.ts"
import { api, asAdmin, asCustomer } from "../../../../../test/support/TestApp.ts"
import { anOrderOf, aProductOf, asVendor, aVendor, entriesOf, owedTo, subOrderOf } from "../MarketBuilder.ts"
import { inDatabase } from "../SaleBuilder.ts"
import { withMarketplace } from "../VendorShop.ts"

/** Makes an order that a visitor bought that of a customer, and says whose it is then. */
const claimedBy = Effect.fnUntraced(function*(orderId: string, userId: string) {
  const buyer = asCustomer(userId)
  const profile = yield* api("GET", "/api/me/profile", { as: buyer })
  yield* inDatabase(
    Effect.flatMap(
      SqlClient.SqlClient,
      (sql) => sql`update orders set customer_id = ${profile.text("data.id")}::uuid where id = ${orderId}::uuid`
    )
  )
  return buyer
})

/** Two vendors' things in one order that was paid, and the part of the first one. */
const sold = Effect.fnUntraced(function*(userId: string) {
  const [vendorId, other] = yield* Effect.all([aVendor(), aVendor()])
  const own = yield* aProductOf(vendorId, { price: 1_000 })
  const orderId = yield* anOrderOf([[own, 3], [yield* aProductOf(other, { price: 700 })]])
  const subOrder = yield* subOrderOf(orderId, vendorId)
  const buyer = yield* claimedBy(orderId, userId)
  return { vendorId, other, own, orderId, subOrderId: subOrder.text("data.id"), buyer }
})

const balance = (vendorId: string) => Effect.map(owedTo(vendorId), (account) => account.balance)
const post = (path: string, as: typeof asAdmin, body: object = {}) =>
  api("POST", `/api/marketplace${path}`, { as, body })

withMarketplace()(
  "what vendors are owed",
  (it) => {
    it.effect("what vendors are owed ends at nothing when a dispute gives everything back, and is as before for who sold beside", () =>
      Effect.gen(function*() {
        const { buyer, other, subOrderId, vendorId } = yield* sold("wins-all")
        assert.deepStrictEqual(yield* Effect.all([balance(vendorId), balance(other)]), [2_700, 630])
        const opened = yield* post("/disputes", buyer, { subOrderId, reason: "item_not_received" })
        assert.strictEqual(opened.status, 201)
        const resolve = post(`/disputes/${opened.text("data.id")}/resolve`, asAdmin, { resolution: "buyer_favor" })
        const answers = yield* Effect.all(Array.from({ length: 8 }, () => resolve), { concurrency: 8 })
        assert.strictEqual(answers.filter(({ status }) => status === 201).length, 1)
        assert.deepStrictEqual(yield* Effect.all([balance(vendorId), balance(other)]), [0, 630])
        assert.deepStrictEqual(yield* entriesOf(vendorId), [
          ["sale", 3_000],
          ["commission", -300],
          ["refund_deduction", -3_000],
          ["commission_reversal", 300]
        ])
      }))

    it.effect("what vendors are owed falls by a partial refund alone, without the commission of it", () =>
      Effect.gen(function*() {
        const { buyer, other, subOrderId, vendorId } = yield* sold("wins-a-part")
        const opened = yield* post("/disputes", buyer, { subOrderId, reason: "defective" })
        const decision = { resolution: "refund_partial", refundAmountCents: 500 }
        yield* post(`/disputes/${opened.text("data.id")}/resolve`, asAdmin, decision)
        assert.deepStrictEqual(yield* Effect.all([balance(vendorId), balance(other)]), [2_250, 630])
      }))

    it.effect("what vendors are owed falls by what came back in a return", () =>
      Effect.gen(function*() {
        const { buyer, other, own, orderId, subOrderId, vendorId } = yield* sold("sends-back")
        const vendor = asVendor(vendorId)
        const portal = `/vendor/me/orders/${subOrderId}`
        yield* post(`${portal}/confirm`, vendor)
        yield* post(`${portal}/ship`, vendor, { trackingNumber: "1Z" })
        assert.strictEqual((yield* post(`${portal}/deliver`, vendor)).status, 201)
        const lineItems = [{ entityId: own, quantity: 2 }]
        const asked = yield* post("/returns", buyer, { subOrderId, reason: "changed_mind", lineItems })
        const id = asked.text("data.id")
        yield* post(`/vendor/me/returns/${id}/approve`, vendor)
        yield* post(`/returns/${id}/ship-back`, buyer, { trackingNumber: "1Z back" })
        yield* post(`/returns/${id}/receive`, vendor)
        const ended = yield* post(`/returns/${id}/refund`, vendor)
        assert.deepStrictEqual([ended.at("data.status"), ended.at("data.refundAmountCents")], ["refunded", 2_000])
        assert.deepStrictEqual(yield* Effect.all([balance(vendorId), balance(other)]), [900, 630])
        yield* eventually(
          "the customer to have the refund",
          Effect.map(
            api("GET", `/api/orders/${orderId}`, { as: asAdmin }),
            (order) => order.at("data.refundedTotal") === 2_000
          )
        )
      }))
  }
)
