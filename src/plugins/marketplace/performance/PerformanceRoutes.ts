import { Effect, Schema } from "effect"
import { about, amount, group, Uuid } from "stoa/plugin"
import { vendorAccounts } from "../ledger/Ledger.ts"
import { Market } from "../Market.ts"
import { ownVendor, portal } from "../parties/VendorPortal.ts"
import { VendorNotFound, vendors } from "../vendors/Vendor.ts"
import { vendorFigures, writeScores } from "./PerformanceRepo.ts"
import { percentOf, scoreOf, shownRating } from "./Score.ts"

const VendorAnalytics = Schema.Struct({
  rating: Schema.Struct({
    average: Schema.Number.pipe(about("Stars of the published reviews, to one decimal; 0 without any.")),
    count: Schema.Int
  }).pipe(about("Published reviews.")),
  balanceCents: amount.schema.annotate({ description: "In the store's default currency, minor units." }),
  balances: Schema.Array(Schema.Struct({ currency: Schema.String, balanceCents: amount.schema })).pipe(
    about("Balance in each currency.")
  )
})

const VendorPerformance = Schema.Struct({
  vendorId: Uuid,
  performanceScore: Schema.Int.pipe(about("From 0 to 100, by the rates below and the reviews.")),
  tier: vendors.columns.tier.schema,
  rates: Schema.Struct({
    subOrders: Schema.Int.pipe(about("Number of sub-orders.")),
    lateShipmentPercent: Schema.Number.pipe(about("Share that was shipped late, or should have been by now.")),
    cancellationPercent: Schema.Number.pipe(about("Share that was cancelled.")),
    defectPercent: Schema.Number.pipe(
      about("Share with a dispute that the vendor did not win, or with goods that came back as faulty.")
    )
  }).pipe(about("Sub-orders of the last 90 days.")),
  ...VendorAnalytics.fields
})

const analyticsOf = Effect.fn("Performance.analytics")(function*(vendorId: string) {
  const { db, host, settings } = yield* Market
  const [figures] = yield* db.use(vendorFigures)(settings.shipWithinDays, vendorId)
  if (figures === undefined) return yield* new VendorNotFound()
  const accounts = yield* db.table(vendorAccounts).list({ vendorId }, { order: ["currency"] })
  const own = accounts.find(({ currency }) => currency === host.config.defaultCurrency)
  const balances = accounts.map(({ balanceCents, currency }) => ({ currency, balanceCents }))
  return { figures, shown: { rating: shownRating(figures), balanceCents: own?.balanceCents ?? 0, balances } }
})

/** Score, rating, rates and balance of a vendor; 404. The score is the one that was computed last. */
const performanceOf = Effect.fn("Performance.of")(function*(vendorId: string) {
  const { figures: { cancelled, defects, late, subOrders }, shown } = yield* analyticsOf(vendorId)
  const { performanceScore, tier } = yield* (yield* Market).db.table(vendors).get(vendorId)
  const rates = {
    subOrders,
    lateShipmentPercent: percentOf(late, subOrders),
    cancellationPercent: percentOf(cancelled, subOrders),
    defectPercent: percentOf(defects, subOrders)
  }
  return { vendorId, performanceScore, tier, rates, ...shown }
})

/** Computes the scores of all vendors of the organization; gives how many are different. */
export const scoreVendors = Effect.gen(function*() {
  const { db, settings: { performanceThresholds, shipWithinDays } } = yield* Market
  const figures = yield* db.use(vendorFigures)(shipWithinDays)
  const scores = figures.map((one) => ({ vendorId: one.vendorId, score: scoreOf(one, performanceThresholds) }))
  return yield* db.use(writeScores)(scores)
}).pipe(Effect.withSpan("Performance.score"))

const g = group("Marketplace performance", "/marketplace")

/** How vendors do (contract, plugins §1.6, §1.9). */
export const performanceRoutes = [
  g.get("/vendors/:id/performance", {
    permission: "marketplace:admin",
    summary: "Get score, rating and balance of a vendor",
    success: VendorPerformance
  }).handle(({ params }) => performanceOf(params.id)),
  g.get("/vendor/me/analytics", {
    ...portal,
    summary: "Get rating and balance of the own vendor",
    success: VendorAnalytics
  }).handle(({ actor }) => Effect.map(analyticsOf(ownVendor(actor)), ({ shown }) => shown))
]
