import { Context, DateTime, Effect, Layer } from "effect"
import { type EntityId, newId, PluginDatabase, PluginHost } from "stoa/plugin"
import { MarketplaceOptions } from "../MarketplaceOptions.ts"
import { VendorNotFound } from "../vendors/Vendor.ts"
import { chooseCommission, type Sale } from "./CommissionChoice.ts"
import { type CommissionFacts, readAncestors, readFacts } from "./CommissionFactsRepo.ts"
import { commissionRules } from "./CommissionTables.ts"

/** A line that is to be sold for a vendor, in the currency of its order. */
export interface LineForSale {
  readonly vendorId: string
  readonly entityId: EntityId
  readonly currency: string
}

/** A hypothetical sale; `volumeCents` absent: what the vendor really sold, in the store's currency. */
export interface ImaginedSale {
  readonly vendorId: string
  readonly categorySlug?: string | undefined
  readonly volumeCents?: number | undefined
}

/** What the store keeps of sales (contract, plugins §1.4). */
export class Commissions extends Context.Service<Commissions>()("stoa/plugins/marketplace/commissions/Commissions", {
  make: Effect.gen(function*() {
    const db = yield* PluginDatabase
    const host = yield* PluginHost
    const { defaultCommissionRateBps } = yield* MarketplaceOptions

    /** More rules than anybody can keep track of, and few enough to choose from in memory. */
    const rules = db.table(commissionRules).list({ isActive: true }, { limit: 10_000 })

    /** The terms of each line as of now, in two statements for any number of lines. */
    const termsFor = Effect.fn("Commissions.termsFor")(function*(lines: ReadonlyArray<LineForSale>) {
      if (lines.length === 0) return []
      const facts = yield* readFacts(
        db,
        [...new Set(lines.map(({ vendorId }) => vendorId))],
        [...new Set(lines.map(({ entityId }) => entityId))]
      )
      const [known, at] = [yield* rules, DateTime.toDateUtc(yield* DateTime.now)]
      return lines.map((line) => chooseCommission(known, saleOf(facts, line, at), defaultCommissionRateBps))
    })

    /** The terms that a sale would have. 404 for an unknown vendor. */
    const preview = Effect.fn("Commissions.preview")(
      function*({ categorySlug, vendorId, volumeCents }: ImaginedSale) {
        const facts = yield* readFacts(db, [vendorId], [])
        if (!facts.vendors.has(vendorId)) return yield* new VendorNotFound()
        // Of nothing in particular: no category counts but the one that is asked about.
        const line = { vendorId, entityId: newId<EntityId>(), currency: host.config.defaultCurrency }
        const sale = saleOf(facts, line, DateTime.toDateUtc(yield* DateTime.now))
        const imagined = {
          ...sale,
          categories: categorySlug === undefined ? sale.categories : yield* readAncestors(db, categorySlug),
          volumeCents: volumeCents ?? sale.volumeCents
        }
        return chooseCommission(yield* rules, imagined, defaultCommissionRateBps)
      }
    )

    return { termsFor, preview }
  })
}) {
  static readonly layer = Layer.effect(Commissions, Commissions.make)
}

const saleOf = (facts: CommissionFacts, { currency, entityId, vendorId }: LineForSale, at: Date): Sale => {
  const vendor = facts.vendors.get(vendorId)
  return {
    vendorId,
    tier: vendor?.tier ?? null,
    commissionRateBps: vendor?.commissionRateBps ?? null,
    categories: facts.categories.get(entityId) ?? new Map(),
    volumeCents: vendor?.volumes.get(currency) ?? 0,
    at
  }
}
