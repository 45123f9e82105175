import { assert } from "@effect/vitest"
import { Effect } from "effect"
import { rowsOf } from "../../../../../test/analytics/Questions.ts"
import { asAdmin, asCustomer, inOrganization } from "../../../../../test/support/TestApp.ts"
import { reviews } from "../../reviews/Reviews.ts"
import { asVendor, done, refused, type Who } from "../Calls.ts"
import { aVendor } from "../Goods.ts"
import { market, onTables, withoutWorker } from "../Market.ts"
import { sold } from "../Sales.ts"

const question = (model: string, ...names: ReadonlyArray<string>) => ({
  measures: names.map((name) => `${model}.${name}`)
})
const orders = question("VendorOrders", "count", "revenue", "commissionPaid", "netPayout")
const entries = question("VendorBalance", "totalCredits", "totalDebits", "netBalance", "entryCount")
const rated = question("VendorReviews", "count", "averageRating")

const ask = (asked: object, as: Exclude<Who, undefined>) =>
  Effect.map(rowsOf(asked, as), (rows) => rows.map((row) => Object.values(Object(row))))

/** Two vendors of one organization, and one of another. */
const threeVendors = Effect.gen(function*() {
  const [one, two, far] = [yield* aVendor(), yield* aVendor(), yield* aVendor({ within: "org_far" })]
  for (const spec of [{ amount: 1_000 }, { amount: 2_000 }, { amount: 4_000, currency: "EUR" }]) yield* sold(one, spec)
  yield* sold(two, { amount: 8_000 })
  yield* sold(far, { amount: 16_000, within: "org_far" })
  yield* done(asAdmin, "POST /payouts/run", { vendorIds: [one] })
  for (const [vendorId, rating, within] of [[one, 5], [one, 4], [one, 4], [two, 1], [far, 2, "org_far"]] as const) {
    yield* onTables((db) => db.table(reviews).insert({ vendorId, rating }), within)
  }
  return { one, two, far }
})

market({}, withoutWorker)("figures of the marketplace", (test) => {
  test("show a vendor its rows, operators all rows of their store, and others none", function*() {
    const { far, one, two } = yield* threeVendors
    const [elsewhere, farVendor] = [inOrganization("org_far", asAdmin), asVendor(far, "owner", "org_far")]
    const either = [{ member: "VendorOrders.id", operator: "set" }, { member: "VendorOrders.id", operator: "notSet" }]
    const ofTwo = { member: "VendorOrders.vendorId", operator: "equals", values: [two] }
    const expected = [
      [orders, asVendor(one), [3, 7_000, 700, 6_300]],
      [orders, asVendor(two), [1, 8_000, 800, 7_200]],
      [orders, asAdmin, [4, 15_000, 1_500, 13_500]],
      [orders, elsewhere, [1, 16_000, 1_600, 14_400]],
      [orders, farVendor, [1, 16_000, 1_600, 14_400]],
      [entries, asVendor(one), [7_000, 7_000, 0, 8]],
      [entries, asVendor(two), [8_000, 800, 7_200, 2]],
      [entries, asAdmin, [15_000, 7_800, 7_200, 10]],
      [rated, asVendor(one), [3, 4.33]],
      [rated, asVendor(two), [1, 1]],
      [rated, asAdmin, [4, 3.5]],
      [{ ...orders, filters: [ofTwo] }, asVendor(one), [0, 0, 0, 0]],
      [{ ...orders, filters: [{ or: either }] }, asVendor(two), [1, 8_000, 800, 7_200]]
    ] as const
    for (const [asked, as, values] of expected) assert.deepStrictEqual(yield* ask(asked, as), [[...values]])
    for (const asked of [orders, entries, rated]) {
      const [row] = yield* ask(asked, asVendor(one, "owner", "org_far"))
      assert.isTrue(row?.every((value) => value === 0))
      yield* refused("403 FORBIDDEN", asCustomer("c1"), "POST /api/analytics/query", asked)
      yield* refused("401 UNAUTHORIZED", undefined, "POST /api/analytics/query", asked)
    }
  })

  test("go by vendor, status, currency and time", function*() {
    const { one } = yield* threeVendors
    const expected = [
      ["VendorOrders.currency", "VendorOrders.revenue", [["EUR", 4_000], ["USD", 3_000]]],
      ["VendorOrders.vendorId", "VendorOrders.count", [[one, 3]]],
      ["VendorOrders.status", "VendorOrders.count", [["delivered", 3]]],
      ["VendorBalance.type", "VendorBalance.entryCount", [["commission", 3], ["payout", 2], ["sale", 3]]],
      ["VendorReviews.rating", "VendorReviews.count", [[4, 2], [5, 1]]]
    ] as const
    for (const [dimension, measure, rows] of expected) {
      const asked = { measures: [measure], dimensions: [dimension], order: { [dimension]: "asc" } }
      const found = (yield* rowsOf(asked, asVendor(one))).map((row) => [Object(row)[dimension], Object(row)[measure]])
      assert.deepStrictEqual(found, rows.map((row) => [...row]))
    }
    const timeDimensions = [{ dimension: "VendorBalance.createdAt", dateRange: "today" }]
    assert.deepStrictEqual(yield* ask({ measures: ["VendorBalance.netBalance"], timeDimensions }, asVendor(one)), [[0]])
  })

  test("are the only models that a vendor sees", function*() {
    const as = asVendor(yield* aVendor())
    const models = (yield* done(as, "GET /api/analytics/meta")).list("data.models").map((model) => Object(model).name)
    assert.sameMembers(models, ["VendorOrders", "VendorBalance", "VendorReviews"])
    yield* refused("403 FORBIDDEN", as, "POST /api/analytics/query", { measures: ["Orders.count"] })
  })
})
