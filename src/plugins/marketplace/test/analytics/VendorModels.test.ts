import { assert } from "@effect/vitest"
import { Effect } from "effect"
import { rowsOf } from "../../../../../test/analytics/Questions.ts"
import { asAdmin } from "../../../../../test/support/TestApp.ts"
import { reviews } from "../../reviews/Reviews.ts"
import { asVendor, done } from "../Calls.ts"
import { aVendor } from "../Goods.ts"
import { market, onTables, withoutWorker } from "../Market.ts"
import { sold } from "../Sales.ts"

market({}, withoutWorker)("figures of the marketplace", (test) => {
  test("add up what was sold, is owed and was rated: for a vendor of its rows, for operators of all", function*() {
    const [one, two] = [yield* aVendor(), yield* aVendor()]
    for (const spec of [{ amount: 1_000 }, { amount: 2_000 }, { amount: 4_000, currency: "EUR" }]) {
      yield* sold(one, spec)
    }
    yield* sold(two, { amount: 8_000 })
    yield* done(asAdmin, "POST /payouts/run", { vendorIds: [one] })
    for (const [vendorId, rating] of [[one, 5], [one, 4], [one, 4], [two, 1]] as const) {
      yield* onTables((db) => db.table(reviews).insert({ vendorId, rating }))
    }
    const sums = [
      ["VendorOrders.count", 3, 4],
      ["VendorOrders.revenue", 7_000, 15_000],
      ["VendorOrders.commissionPaid", 700, 1_500],
      ["VendorOrders.netPayout", 6_300, 13_500],
      ["VendorBalance.totalCredits", 7_000, 15_000],
      ["VendorBalance.totalDebits", 7_000, 7_800],
      ["VendorBalance.netBalance", 0, 7_200],
      ["VendorBalance.entryCount", 8, 10],
      ["VendorReviews.count", 3, 4],
      ["VendorReviews.averageRating", 4.33, 3.5]
    ] as const
    for (const [measure, ofVendor, ofAll] of sums) {
      const asked = Effect.forEach([asVendor(one), asAdmin], (as) => rowsOf({ measures: [measure] }, as))
      assert.deepStrictEqual(yield* asked, [[{ [measure]: ofVendor }], [{ [measure]: ofAll }]])
    }
    const groups = [
      ["VendorOrders.currency", "VendorOrders.revenue", [["EUR", 4_000], ["USD", 3_000]]],
      ["VendorOrders.vendorId", "VendorOrders.count", [[one, 3]]],
      ["VendorOrders.status", "VendorOrders.count", [["delivered", 3]]],
      ["VendorBalance.type", "VendorBalance.entryCount", [["commission", 3], ["payout", 2], ["sale", 3]]],
      ["VendorReviews.rating", "VendorReviews.count", [[4, 2], [5, 1]]]
    ] as const
    for (const [dimension, measure, rows] of groups) {
      const asked = { measures: [measure], dimensions: [dimension], order: { [dimension]: "asc" } }
      const found = (yield* rowsOf(asked, asVendor(one))).map((row) => [Object(row)[dimension], Object(row)[measure]])
      assert.deepStrictEqual(found, rows.map((row) => [...row]))
    }
  })
})
