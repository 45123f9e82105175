import { assert } from "@effect/vitest"
import { Effect } from "effect"
import { rowsOf } from "../../../../../test/analytics/Questions.ts"
import { onDatabase, refused } from "../../../../../test/checkout/CheckoutFixtures.ts"
import { api, asAdmin, asCustomer, inOrganization } from "../../../../../test/support/TestApp.ts"
import { asVendor } from "../MarketBuilder.ts"
import { aVendor, paidBy, sold } from "../payouts/PayoutFixtures.ts"
import { withMarketplace, withoutWorker } from "../VendorShop.ts"

const withMarket = withMarketplace({}, withoutWorker)

const orders = {
  measures: ["VendorOrders.count", "VendorOrders.revenue", "VendorOrders.commissionPaid", "VendorOrders.netPayout"]
}
const entries = {
  measures: [
    "VendorBalance.totalCredits",
    "VendorBalance.totalDebits",
    "VendorBalance.netBalance",
    "VendorBalance.entryCount"
  ]
}
const reviews = { measures: ["VendorReviews.count", "VendorReviews.averageRating"] }

const review = (vendorId: string, rating: number, organizationId = "org_default") =>
  onDatabase((sql) =>
    sql`insert into marketplace_vendor_reviews (organization_id, vendor_id, rating)
      values (${organizationId}, ${vendorId}::uuid, ${rating})`
  )

const valuesOf = (rows: ReadonlyArray<unknown>) => rows.map((row) => Object.values(Object(row)))

/** Two vendors of one organization, and one of another. */
const market = Effect.gen(function*() {
  const [one, two] = [yield* aVendor(), yield* aVendor()]
  const far = yield* aVendor({ organizationId: "org_far" })
  yield* sold(one, { amount: 1_000 })
  yield* sold(one, { amount: 2_000 })
  yield* sold(one, { amount: 4_000, currency: "EUR" })
  yield* sold(two, { amount: 8_000 })
  yield* sold(far, { amount: 16_000, organizationId: "org_far" })
  yield* paidBy({ vendorIds: [one] })
  for (const rating of [5, 4, 4]) yield* review(one, rating)
  yield* review(two, 1)
  yield* review(far, 2, "org_far")
  return { one, two, far }
})

withMarket("figures of the marketplace", (it) => {
  it.effect("figures of the marketplace show a vendor its rows, operators all rows, and customers none", () =>
    Effect.gen(function*() {
      const { far, one, two } = yield* market
      const ask = (question: object, as: object) => Effect.map(rowsOf(question, as), valuesOf)
      assert.deepStrictEqual(yield* ask(orders, asVendor(one)), [[3, 7_000, 700, 6_300]])
      assert.deepStrictEqual(yield* ask(orders, asVendor(two)), [[1, 8_000, 800, 7_200]])
      assert.deepStrictEqual(yield* ask(orders, asAdmin), [[4, 15_000, 1_500, 13_500]])
      assert.deepStrictEqual(yield* ask(entries, asVendor(one)), [[7_000, 7_000, 0, 8]])
      assert.deepStrictEqual(yield* ask(entries, asVendor(two)), [[8_000, 800, 7_200, 2]])
      assert.deepStrictEqual(yield* ask(entries, asAdmin), [[15_000, 7_800, 7_200, 10]])
      assert.deepStrictEqual(yield* ask(reviews, asVendor(one)), [[3, 4.33]])
      assert.deepStrictEqual(yield* ask(reviews, asVendor(two)), [[1, 1]])
      assert.deepStrictEqual(yield* ask(reviews, asAdmin), [[4, 3.5]])
      const elsewhere = inOrganization("org_far", asAdmin)
      assert.deepStrictEqual(yield* ask(orders, elsewhere), [[1, 16_000, 1_600, 14_400]])
      for (const question of [orders, entries, reviews]) {
        const strange = yield* ask(question, inOrganization("org_far", asVendor(one)))
        assert.isTrue(strange[0]?.every((value) => value === 0), JSON.stringify(strange))
        const asked = yield* api("POST", "/api/analytics/query", { as: asCustomer("c1"), body: question })
        refused(asked, 403, "FORBIDDEN")
        assert.strictEqual((yield* api("POST", "/api/analytics/query", { body: question })).status, 401)
      }
      const named = { ...orders, filters: [{ member: "VendorOrders.vendorId", operator: "equals", values: [two] }] }
      assert.deepStrictEqual(yield* ask(named, asVendor(one)), [[0, 0, 0, 0]])
      const either = [{ member: "VendorOrders.id", operator: "set" }, { member: "VendorOrders.id", operator: "notSet" }]
      assert.deepStrictEqual(yield* ask({ ...orders, filters: [{ or: either }] }, asVendor(two)), [[
        1,
        8_000,
        800,
        7_200
      ]])
      assert.deepStrictEqual(yield* ask(orders, inOrganization("org_far", asVendor(far))), [[
        1,
        16_000,
        1_600,
        14_400
      ]])
    }))

  it.effect("figures of the marketplace go by vendor, status, currency and time", () =>
    Effect.gen(function*() {
      const { one } = yield* market
      const by = (dimension: string, measure: string) =>
        Effect.map(
          rowsOf({ measures: [measure], dimensions: [dimension], order: { [dimension]: "asc" } }, asVendor(one)),
          (rows) => rows.map((row) => [Object(row)[dimension], Object(row)[measure]])
        )
      assert.deepStrictEqual(yield* by("VendorOrders.currency", "VendorOrders.revenue"), [["EUR", 4_000], [
        "USD",
        3_000
      ]])
      assert.deepStrictEqual(yield* by("VendorOrders.vendorId", "VendorOrders.count"), [[one, 3]])
      assert.deepStrictEqual(yield* by("VendorOrders.status", "VendorOrders.count"), [["delivered", 3]])
      assert.deepStrictEqual(yield* by("VendorBalance.type", "VendorBalance.entryCount"), [
        ["commission", 3],
        ["payout", 2],
        ["sale", 3]
      ])
      assert.deepStrictEqual(yield* by("VendorReviews.rating", "VendorReviews.count"), [[4, 2], [5, 1]])
      const today = yield* rowsOf({
        measures: ["VendorBalance.netBalance"],
        timeDimensions: [{ dimension: "VendorBalance.createdAt", dateRange: "today" }]
      }, asVendor(one))
      assert.deepStrictEqual(today, [{ "VendorBalance.netBalance": 0 }])
    }))

  it.effect("figures of the marketplace are the only models that a vendor sees", () =>
    Effect.gen(function*() {
      const vendorId = yield* aVendor()
      const meta = yield* api("GET", "/api/analytics/meta", { as: asVendor(vendorId) })
      assert.sameMembers(meta.list("data.models").map((model) => Object(model).name), [
        "VendorOrders",
        "VendorBalance",
        "VendorReviews"
      ])
      const asked = { as: asVendor(vendorId), body: { measures: ["Orders.count"] } }
      refused(yield* api("POST", "/api/analytics/query", asked), 403, "FORBIDDEN")
    }))
})
