import { assert } from "@effect/vitest"
import { Effect } from "effect"
import { onDatabase, refused } from "../../../../../test/checkout/CheckoutFixtures.ts"
import { eventually } from "../../../../../test/support/Eventually.ts"
import { api, asAdmin, asCustomer } from "../../../../../test/support/TestApp.ts"
import { anOrderOf, aProductOf, asVendor, aVendor, entriesOf, owedTo, subOrderOf } from "../MarketBuilder.ts"
import { aDispute, aSale, isOnHold, refundsOf, type Sale } from "../SaleBuilder.ts"
import { assertOnce, withMarketplace } from "../VendorShop.ts"

const resolve = (id: string, body: object) =>
  api("POST", `/api/marketplace/disputes/${id}/resolve`, { as: asAdmin, body })

/** What was given back of an order once all of it has arrived. */
const given = (sale: Sale) =>
  eventually(
    "refunds to be settled",
    Effect.map(refundsOf(sale), (all) => all.every(({ status }) => status === "completed") && { all })
  ).pipe(Effect.map(({ all }) => all.map(({ amount }) => amount)))

const announced = (id: string) =>
  onDatabase((sql) =>
    sql`select payload->>'status' as status from outbox_events
      where type = 'dispute.resolved' and entity_id = ${id}`
  )

withMarketplace()(
  "the resolution of a dispute",
  (it) => {
    it.effect("gives back all of the sub-order, and nothing of what others sold in the order, once of eight at once", () =>
      Effect.gen(function*() {
        const sale = yield* aSale({ vendorLines: 1, lines: [{ unitPrice: 700, quantity: 2 }, { unitPrice: 900 }] })
        const id = yield* aDispute(sale)
        yield* assertOnce(resolve(id, { resolution: "refund_full", resolvedBy: "somebody-else" }))
        assert.deepStrictEqual(yield* given(sale), [1_400])
        const [refund] = yield* refundsOf(sale)
        const kept = yield* api("GET", `/api/marketplace/disputes/${id}`, { as: asAdmin })
        assert.deepInclude(kept.at("data"), {
          status: "resolved",
          resolution: "refund_full",
          refundAmountCents: 1_400,
          refundId: refund?.id,
          resolvedBy: asAdmin.userId
        })
        assert.deepStrictEqual(yield* announced(id), [{ status: "resolved" }])
      }))

    it.effect("gives back what the buyer wins, and nothing where the vendor does", () =>
      Effect.gen(function*() {
        const results = yield* Effect.forEach(
          ["buyer_favor", "replacement", "rejected", "vendor_favor"],
          (resolution) =>
            Effect.gen(function*() {
              const sale = yield* aSale()
              const answer = yield* resolve(yield* aDispute(sale), { resolution })
              return [answer.status, answer.at("data.refundAmountCents"), yield* given(sale)]
            })
        )
        assert.deepStrictEqual(results, [[201, 2_500, [2_500]], [201, null, []], [201, null, []], [201, null, []]])
      }))

    it.effect("gives back a part, on lines of the sub-order, up to what is left of them", () =>
      Effect.gen(function*() {
        const sale = yield* aSale({ vendorLines: 1, lines: [{ unitPrice: 1_000, quantity: 3 }, { unitPrice: 9_000 }] })
        const first = yield* aDispute(sale)
        for (
          const body of [
            { resolution: "refund_partial" },
            { resolution: "refund_partial", refundAmountCents: 0 },
            { resolution: "refund_partial", refundAmountCents: -1 },
            { resolution: "refund_partial", refundAmountCents: 3_001 },
            { resolution: "refund_full", refundAmountCents: 10 },
            { resolution: "rejected", refundAmountCents: 10 }
          ]
        ) refused(yield* resolve(first, body), 422, "VALIDATION_FAILED")
        assert.isTrue(yield* isOnHold(sale))
        yield* resolve(first, { resolution: "refund_partial", refundAmountCents: 800 })
        const second = yield* aDispute(sale)
        const answer = yield* resolve(second, { resolution: "refund_full" })
        assert.deepStrictEqual([answer.status, answer.at("data.refundAmountCents")], [201, 2_000])
        assert.deepStrictEqual(yield* given(sale), [800, 2_000])
        const third = yield* aDispute(sale)
        refused(yield* resolve(third, { resolution: "refund_full" }), 409, "CONFLICT")
        refused(
          yield* resolve(third, { resolution: "refund_partial", refundAmountCents: 1 }),
          422,
          "VALIDATION_FAILED"
        )
        assert.isTrue(yield* isOnHold(sale))
        assert.strictEqual((yield* resolve(third, { resolution: "rejected" })).status, 201)
      }))

    it.effect("gives back what was not given back before, and never more than is left of the payment", () =>
      Effect.gen(function*() {
        const sale = yield* aSale()
        const [line] = sale.lines
        yield* api("POST", `/api/orders/${sale.orderId}/refunds`, {
          as: asAdmin,
          body: { lines: [{ lineItemId: line?.id, quantity: 1 }] }
        })
        yield* api("POST", `/api/orders/${sale.orderId}/refund`, { as: asAdmin, body: { amount: 300 } })
        const answer = yield* resolve(yield* aDispute(sale), { resolution: "refund_full" })
        assert.strictEqual(answer.at("data.refundAmountCents"), 1_200)
        assert.deepStrictEqual(yield* given(sale), [1_000, 300, 1_200])
      }))

    it.effect("the resolution of a dispute does the same again for an Idempotency-Key, and nothing twice", () =>
      Effect.gen(function*() {
        const sale = yield* aSale()
        const id = yield* aDispute(sale)
        const call = {
          as: asAdmin,
          body: { resolution: "buyer_favor" },
          headers: { "idempotency-key": `resolve-${id}` }
        }
        const path = `/api/marketplace/disputes/${id}/resolve`
        const first = yield* api("POST", path, call)
        const again = yield* api("POST", path, call)
        assert.deepStrictEqual([first.status, again.status, again.body], [201, 201, first.body])
        assert.deepStrictEqual(yield* given(sale), [2_500])
      }))
  }
)

/** Makes an order that a visitor bought that of a customer, and says whose it is then. */
const claimedBy = Effect.fnUntraced(function*(orderId: string, userId: string) {
  const buyer = asCustomer(userId)
  const profile = yield* api("GET", "/api/me/profile", { as: buyer })
  yield* onDatabase((sql) =>
    sql`update orders set customer_id = ${profile.text("data.id")}::uuid where id = ${orderId}::uuid`
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
        yield* post(`/disputes/${opened.text("data.id")}/resolve`, asAdmin, { resolution: "buyer_favor" })
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
