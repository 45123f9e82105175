import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { onDatabase } from "../../../../../test/checkout/CheckoutFixtures.ts"
import { asAdmin, inOrganization } from "../../../../../test/support/TestApp.ts"
import { type Figures, scoreOf, shownRating } from "../../performance/Score.ts"
import { done } from "../Calls.ts"
import { aVendor } from "../Goods.ts"
import { market, runTask, withoutWorker } from "../Market.ts"
import { aDispute, adjusted, aReturn, aReview, aSale, postAll } from "../Sales.ts"

const thresholds = {
  minRating: 3,
  maxDefectRatePercent: 5,
  maxLateShipmentRatePercent: 10,
  maxCancellationRatePercent: 5
}
const spotless: Figures = { subOrders: 100, late: 0, cancelled: 0, defects: 0, reviews: 3, averageRating: 4.9 }
const scores = (of: typeof thresholds, ...figures: ReadonlyArray<Partial<Figures>>) =>
  figures.map((one) => scoreOf({ ...spotless, ...one }, of))

describe("the score of a vendor", () => {
  it("is 100 for who keeps within the thresholds, and for who has sold nothing", () => {
    const nothing = { subOrders: 0, reviews: 0, averageRating: null }
    const within = { late: 10, cancelled: 5, defects: 5, averageRating: 3 }
    assert.deepStrictEqual(scores(thresholds, within, nothing), [100, 100])
  })

  it("loses 25 points for each rate at twice its threshold or worse, and for one star, a part of them before", () => {
    assert.deepStrictEqual(scores(thresholds, { late: 15 }, { late: 20 }, { late: 100 }), [88, 75, 75])
    assert.deepStrictEqual(scores(thresholds, { cancelled: 7 }, { cancelled: 10 }), [90, 75])
    assert.deepStrictEqual(scores(thresholds, { defects: 6 }, { defects: 50 }), [95, 75])
    assert.deepStrictEqual(scores(thresholds, ...[2.5, 2, 1].map((averageRating) => ({ averageRating }))), [94, 88, 75])
    const worst = { late: 100, cancelled: 100, defects: 100, averageRating: 1 }
    assert.deepStrictEqual(scores(thresholds, worst), [0])
  })

  it("takes a threshold of 0 as no tolerance, and a wanted rating of 1 as any", () => {
    const strict = { ...thresholds, maxDefectRatePercent: 0, minRating: 1 }
    assert.deepStrictEqual(scores(strict, { defects: 0 }, { defects: 1 }, { averageRating: 1 }), [100, 75, 100])
  })

  it("is beside a rating that is shown to one decimal, 0 without reviews", () => {
    const shown = [4.25, 11 / 3, null].map((averageRating) => shownRating({ averageRating, reviews: 1 }).average)
    assert.deepStrictEqual(shown, [4.3, 3.7, 0])
  })
})

const performance = (vendorId: string, within = "org_default") =>
  Effect.map(
    done(inOrganization(within, asAdmin), `GET /vendors/${vendorId}/performance`),
    ({ at }) => Object(at("data"))
  )

/** Ten sub-orders: one each late, shipped late, cancelled, with a lost dispute and with a faulty return; the rest is fine. */
const tenSales = Effect.fnUntraced(function*(vendorId: string, within = "org_default") {
  const of = { vendorId, within }
  const inTime = aSale({ ...of, shippedDaysAgo: 0 })
  yield* aSale({ ...of, status: "confirmed", soldDaysAgo: 4 })
  yield* aSale({ ...of, soldDaysAgo: 9, shippedDaysAgo: 5 })
  yield* aSale({ ...of, status: "cancelled", soldDaysAgo: 9 })
  yield* aDispute(yield* inTime, "resolved", { resolution: "refund_partial" })
  yield* aReturn(yield* inTime, "received")
  yield* aDispute(yield* aSale({ ...of, soldDaysAgo: 4, shippedDaysAgo: 2 }), "resolved", {
    resolution: "vendor_favor"
  })
  yield* aReturn(yield* inTime, "vendor_rejected")
  yield* aReturn(yield* inTime, "cancelled")
  yield* Effect.repeat(inTime, { times: 1 })
  return yield* aSale({ ...of, status: "confirmed", soldDaysAgo: 91 })
})

market({}, withoutWorker)("the performance of a vendor", (test) => {
  test("is what its sub-orders, disputes, returns and reviews say, scored by the task for every organization", function*() {
    const [vendorId, beside] = [yield* aVendor({ tier: "gold" }), yield* aVendor()]
    const elsewhere = yield* aVendor({ within: "org_elsewhere" })
    yield* aReview(yield* tenSales(vendorId), 1)
    yield* tenSales(elsewhere, "org_elsewhere")
    const long = aSale({ vendorId, shippedDaysAgo: 0, soldDaysAgo: 95 })
    yield* aReview(yield* long, 2)
    yield* aReview(yield* long, 5, "hidden")
    assert.deepInclude(yield* performance(vendorId), {
      vendorId,
      performanceScore: 100,
      tier: "gold",
      rating: { average: 1.5, count: 2 },
      rates: { subOrders: 10, lateShipmentPercent: 20, cancellationPercent: 10, defectPercent: 20 },
      balanceCents: 0
    })
    for (const organization of ["org_default", "org_elsewhere"]) {
      assert.deepStrictEqual(yield* runTask("score-vendors", organization), { changed: 1 })
    }
    const read = [performance(vendorId), performance(elsewhere, "org_elsewhere"), performance(beside)]
    assert.deepStrictEqual((yield* Effect.all(read)).map(({ performanceScore }) => performanceScore), [6, 25, 100])
    assert.deepStrictEqual(yield* runTask("score-vendors"), { changed: 0 })
  })

  test("leaves unpaid orders and completely cancelled orders out", function*() {
    const { vendorId } = yield* aSale({ status: "confirmed", soldDaysAgo: 8 })
    for (const status of ["pending", "cancelled"] as const) {
      const { orderId } = yield* aSale({ vendorId, status, soldDaysAgo: 8 })
      yield* onDatabase((sql) => sql`update orders set status = ${status} where id = ${orderId}::uuid`)
    }
    const rates = { subOrders: 1, lateShipmentPercent: 100, cancellationPercent: 0, defectPercent: 0 }
    assert.deepStrictEqual((yield* performance(vendorId)).rates, rates)
  })

  test("comes with the balance in the store's currency and in each of the vendor's", function*() {
    const sale = yield* aSale()
    yield* postAll([adjusted(sale.vendorId, 1_250), adjusted(sale.vendorId, -30, "EUR")])
    yield* aReview(sale, 4)
    const shown = {
      rating: { average: 4, count: 1 },
      balanceCents: 1_250,
      balances: [{ currency: "EUR", balanceCents: -30 }, { currency: "USD", balanceCents: 1_250 }]
    }
    assert.deepStrictEqual((yield* done(sale.vendor, "GET /vendor/me/analytics")).at("data"), shown)
    assert.deepInclude(yield* performance(sale.vendorId), shown)
  })
})

const tolerant = {
  minRating: 1,
  maxDefectRatePercent: 20,
  maxLateShipmentRatePercent: 0,
  maxCancellationRatePercent: 10
}
market({ shipWithinDays: 10, performanceThresholds: tolerant }, withoutWorker)(
  "where the deployment tolerates more",
  (test) => {
    test("the performance of a vendor is scored by its options", function*() {
      const vendorId = yield* aVendor()
      yield* tenSales(vendorId)
      yield* runTask("score-vendors")
      const { performanceScore, rates } = yield* performance(vendorId)
      assert.deepStrictEqual([rates.lateShipmentPercent, performanceScore], [0, 100])
    })
  }
)
