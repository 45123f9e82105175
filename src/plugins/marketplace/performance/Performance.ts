import { Context, Effect, Layer } from "effect"
import { CurrentActor, currentOrganization, PluginDatabase, PluginHost, systemActor } from "stoa/plugin"
import { vendorAccounts } from "../ledger/LedgerTables.ts"
import { MarketplaceOptions } from "../MarketplaceOptions.ts"
import { VendorNotFound } from "../vendors/Vendor.ts"
import { vendors } from "../vendors/VendorTables.ts"
import { performanceRepo } from "./PerformanceRepo.ts"
import { percentOf, scoreOf, shownRating } from "./Score.ts"

/** How vendors do (contract, plugins §1.6, §1.9). */
export class Performance extends Context.Service<Performance>()("stoa/plugins/marketplace/performance/Performance", {
  make: Effect.gen(function*() {
    const db = yield* PluginDatabase
    const { config } = yield* PluginHost
    const { performanceThresholds, shipWithinDays } = yield* MarketplaceOptions
    const repo = performanceRepo(db)

    const read = Effect.fnUntraced(function*(vendorId: string) {
      const [figures] = yield* repo.figures(yield* currentOrganization, shipWithinDays, vendorId)
      return figures ?? (yield* new VendorNotFound())
    })

    const balances = Effect.fnUntraced(function*(vendorId: string) {
      const accounts = yield* db.table(vendorAccounts).list({ vendorId }, { order: ["currency"] })
      const own = accounts.find(({ currency }) => currency === config.defaultCurrency)
      return {
        balanceCents: own?.balanceCents ?? 0,
        balances: accounts.map(({ balanceCents, currency }) => ({ currency, balanceCents }))
      }
    })

    /** Score, rating, rates and balance of a vendor; 404. The score is the one that was computed last. */
    const of = Effect.fn("Performance.of")(function*(vendorId: string) {
      const figures = yield* read(vendorId)
      const { performanceScore, tier } = yield* db.table(vendors).get(vendorId)
      return {
        vendorId,
        performanceScore,
        tier,
        rating: shownRating(figures),
        rates: {
          subOrders: figures.subOrders,
          lateShipmentPercent: percentOf(figures.late, figures.subOrders),
          cancellationPercent: percentOf(figures.cancelled, figures.subOrders),
          defectPercent: percentOf(figures.defects, figures.subOrders)
        },
        ...yield* balances(vendorId)
      }
    })

    /** What of it a vendor sees. */
    const analytics = Effect.fn("Performance.analytics")(function*(vendorId: string) {
      return { rating: shownRating(yield* read(vendorId)), ...yield* balances(vendorId) }
    })

    /** Computes the scores of all vendors of the organization; gives how many are different. */
    const score = Effect.gen(function*() {
      const organization = yield* currentOrganization
      const figures = yield* repo.figures(organization, shipWithinDays, null)
      const scores = figures.map((one) => ({ vendorId: one.vendorId, score: scoreOf(one, performanceThresholds) }))
      return yield* repo.writeScores(organization, scores)
    }).pipe(Effect.withSpan("Performance.score"))

    /** The same for every organization, as the service itself. */
    const scoreAll = Effect.gen(function*() {
      let changed = 0
      for (const { id } of yield* repo.organizations) {
        changed += yield* Effect.provideService(score, CurrentActor, systemActor(id))
      }
      return changed
    })

    return { of, analytics, score, scoreAll }
  })
}) {
  static readonly layer = Layer.effect(Performance, Performance.make)
}
