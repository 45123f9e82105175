import { assert } from "@effect/vitest"
import { Effect } from "effect"
import { onDatabase } from "../../../../../test/checkout/CheckoutFixtures.ts"
import { eventually } from "../../../../../test/support/Eventually.ts"
import { asAdmin, asCustomer } from "../../../../../test/support/TestApp.ts"
import { subOrders } from "../../suborders/SubOrder.ts"
import { assertOnce, asVendor, done, refused, refusedBodies, send, type Who } from "../Calls.ts"
import { market, onTables, times } from "../Market.ts"
import { aDispute, amountsOf, aSale, refundsOf, type Sale } from "../Sales.ts"

const invalid = "422 VALIDATION_FAILED"
const reader = { ...asCustomer("reader"), permissions: ["marketplace:read"] }

const opening = ({ subOrderId }: Sale) => ({ subOrderId, reason: "item_not_received" })
const open = (sale: Sale, rest: object = {}) => done(sale.buyer, "POST /disputes", { ...opening(sale), ...rest })
const respond = (id: string, as: Who, note: string, rest: object = {}) =>
  done(as, `POST /disputes/${id}/respond`, { note, ...rest })
const resolve = (id: string, resolution: string, refundAmountCents?: number) =>
  done(asAdmin, `POST /disputes/${id}/resolve`, { resolution, refundAmountCents })

const isOnHold = ({ subOrderId, within }: Sale) =>
  Effect.map(onTables((db) => db.table(subOrders).get(subOrderId), within), ({ onHold }) => onHold)

/** What was given back of an order once all of it has arrived. */
const given = (sale: Sale) =>
  Effect.andThen(
    eventually(
      "refunds to settle",
      Effect.map(refundsOf(sale), (all) => all.every(({ status }) => status === "completed"))
    ),
    amountsOf(sale)
  )

market({ vendorResponseDeadlineDays: 2 })("a dispute", (test) => {
  test("is opened as the actor, and holds the sub-order's money until it is resolved", function*() {
    const sale = yield* aSale()
    const before = Date.now()
    const opened = yield* open(sale, { openedBy: "somebody-else", description: "d".repeat(4_000) })
    assert.deepInclude(opened.at("data"), { status: "vendor_response_pending", openedBy: sale.buyer.userId })
    assert.strictEqual(Math.floor((Date.parse(opened.text("data.deadlineAt")) - before) / 86_400_000), 2)
    assert.isTrue(yield* isOnHold(sale))
    yield* resolve(opened.text("data.id"), "replacement")
    assert.isFalse(yield* isOnHold(sale))
  })

  test("is the only open one of its sub-order, also of eight at once, and may be followed by another one", function*() {
    const sale = yield* aSale()
    const first = yield* assertOnce(send(sale.buyer, "POST /disputes", opening(sale)), 409)
    yield* resolve(first?.text("data.id") ?? "", "vendor_favor")
    yield* open(sale)
  })

  test("goes to the operators with the vendor's answer, and keeps what all say, also at once", function*() {
    const sale = yield* aSale()
    const id = (yield* open(sale)).text("data.id")
    const url = "https://example.com/photo.jpg"
    const states = [
      yield* respond(id, sale.buyer, "Look!", { url }),
      yield* respond(id, asAdmin, "We wait for the vendor."),
      yield* respond(id, sale.vendor, "It was sent.", { party: "platform" })
    ].map((answer) => answer.at("data.status"))
    assert.deepStrictEqual(states, ["vendor_response_pending", "vendor_response_pending", "platform_review"])
    yield* Effect.forEach(Array(8).keys(), (n) => respond(id, n % 2 ? sale.buyer : sale.vendor, `${n}`), {
      concurrency: 8
    })
    const kept = yield* done(reader, `GET /disputes/${id}`)
    const parties = kept.list("data.evidence").map((one) => Object(one).party)
    assert.deepStrictEqual([parties.length, ...parties.slice(0, 3)], [11, "buyer", "platform", "vendor"])
    assert.deepInclude(kept.at("data.evidence.0"), { type: "response", note: "Look!", url })
    yield* refused("403 FORBIDDEN", reader, `POST /disputes/${id}/respond`, { note: "I think" })
  })

  test("takes answers of its vendor until it is resolved, a hundred at most", function*() {
    const states = [["vendor_response_pending", "platform_review"], ["escalated", "escalated"]] as const
    for (const [from, to] of states) {
      const sale = yield* aSale()
      assert.strictEqual((yield* respond(yield* aDispute(sale, from), sale.vendor, "So.")).at("data.status"), to)
    }
    const sale = yield* aSale()
    const evidence = times(100, { party: "buyer" as const, type: "response", at: "2026-01-01" })
    const [over, full] = [yield* aDispute(sale, "resolved"), yield* aDispute(sale, "escalated", { evidence })]
    yield* refused("422 INVALID_TRANSITION", sale.vendor, `POST /disputes/${over}/respond`, { note: "So." })
    yield* refused(invalid, sale.vendor, `POST /disputes/${full}/respond`, { note: "So." })
  })

  test("is listed for those whom it is about, by state and sub-order", function*() {
    const [one, other] = yield* Effect.all([aSale(), aSale()])
    const bought = yield* aSale({ userId: String(one.buyer.userId), vendorId: other.vendorId })
    yield* aDispute(one, "escalated")
    yield* aDispute(other)
    yield* aDispute(bought)
    const both = { ...asVendor(other.vendorId), userId: one.buyer.userId ?? null }
    const totals = yield* Effect.forEach(
      [
        [one.buyer, ""],
        [one.buyer, "?status=escalated"],
        [one.buyer, `?subOrderId=${other.subOrderId}`],
        [other.vendor, ""],
        [both, ""],
        [asCustomer("another-customer"), ""],
        [{ ...asCustomer("x"), vendorId: "not-an-id" }, ""],
        [asAdmin, `?subOrderId=${other.subOrderId}`],
        [reader, `?subOrderId=${one.subOrderId}`]
      ] as const,
      ([as, query]) => Effect.map(done(as, `GET /disputes${query}`), ({ at }) => at("meta.pagination.total"))
    )
    assert.deepStrictEqual(totals, [2, 1, 0, 2, 3, 0, 0, 1, 1])
    const newest = yield* done(one.buyer, "GET /disputes?limit=1")
    assert.deepStrictEqual([newest.list("data").length, newest.at("data.0.subOrderId")], [1, bought.subOrderId])
    yield* refused(invalid, asAdmin, "GET /disputes?status=lost")
  })

  test("refuses bodies that say nothing, and addresses that are no links", function*() {
    const sale = yield* aSale()
    const id = yield* aDispute(sale)
    const wrong = [{}, { note: "" }, { note: "x".repeat(5_001) }, { note: "x", url: "javascript:alert(1)" }]
    yield* refusedBodies(invalid, sale.buyer, `POST /disputes/${id}/respond`, wrong)
    yield* refused(invalid, sale.buyer, "POST /disputes", { ...opening(sale), reason: "mood" })
    yield* refused(invalid, asAdmin, `POST /disputes/${id}/resolve`, { resolution: "closed" })
  })
})

market()("the resolution of a dispute", (test) => {
  test("gives back all of the sub-order, and nothing of what others sold, once of eight at once", function*() {
    const sale = yield* aSale({ vendorLines: 1, lines: [{ unitPrice: 700, quantity: 2 }, { unitPrice: 900 }] })
    const id = yield* aDispute(sale)
    yield* assertOnce(send(asAdmin, `POST /disputes/${id}/resolve`, { resolution: "refund_full", resolvedBy: "other" }))
    assert.deepStrictEqual(yield* given(sale), [1_400])
    const [refund] = yield* refundsOf(sale)
    const kept = { status: "resolved", resolution: "refund_full", refundAmountCents: 1_400, resolvedBy: asAdmin.userId }
    assert.deepInclude((yield* done(asAdmin, `GET /disputes/${id}`)).at("data"), { ...kept, refundId: refund?.id })
    const events = onDatabase((sql) =>
      sql`select payload->>'status' as status from outbox_events
        where type = 'dispute.resolved' and entity_id = ${id}`
    )
    assert.deepStrictEqual(yield* events, [{ status: "resolved" }])
  })

  test("gives back what the buyer wins, and nothing where the vendor does", function*() {
    for (
      const [resolution, amounts] of [["buyer_favor", [2_500]], ["replacement", []], ["rejected", []], [
        "vendor_favor",
        []
      ]] as const
    ) {
      const sale = yield* aSale()
      const answer = yield* resolve(yield* aDispute(sale), resolution)
      assert.deepStrictEqual([answer.at("data.refundAmountCents"), yield* given(sale)], [amounts[0] ?? null, [
        ...amounts
      ]])
    }
  })

  test("gives back a part, on lines of the sub-order, up to what is left of them", function*() {
    const sale = yield* aSale({ vendorLines: 1, lines: [{ unitPrice: 1_000, quantity: 3 }, { unitPrice: 9_000 }] })
    const first = yield* aDispute(sale)
    yield* refusedBodies(invalid, asAdmin, `POST /disputes/${first}/resolve`, [
      ...[undefined, 0, -1, 3_001].map((refundAmountCents) => ({ resolution: "refund_partial", refundAmountCents })),
      { resolution: "refund_full", refundAmountCents: 10 },
      { resolution: "rejected", refundAmountCents: 10 }
    ])
    assert.isTrue(yield* isOnHold(sale))
    yield* resolve(first, "refund_partial", 800)
    assert.strictEqual((yield* resolve(yield* aDispute(sale), "refund_full")).at("data.refundAmountCents"), 2_000)
    assert.deepStrictEqual(yield* given(sale), [800, 2_000])
    const third = yield* aDispute(sale)
    yield* refused("409 CONFLICT", asAdmin, `POST /disputes/${third}/resolve`, { resolution: "refund_full" })
    yield* refused(invalid, asAdmin, `POST /disputes/${third}/resolve`, {
      resolution: "refund_partial",
      refundAmountCents: 1
    })
    assert.isTrue(yield* isOnHold(sale))
    yield* resolve(third, "rejected")
  })

  test("gives back what was not given back before, and never more than is left of the payment", function*() {
    const sale = yield* aSale()
    const refund = (body: object) => done(asAdmin, `POST /api/orders/${sale.orderId}/refunds`, body)
    yield* refund({ lines: [{ lineItemId: sale.lines[0]?.id, quantity: 1 }] })
    yield* refund({ amount: 300 })
    assert.strictEqual((yield* resolve(yield* aDispute(sale), "refund_full")).at("data.refundAmountCents"), 1_200)
    assert.deepStrictEqual(yield* given(sale), [1_000, 300, 1_200])
  })
})
