import { DateTime, Effect, Schema } from "effect"
import { about, Amount, type EntityId, newId, Text, Uuid } from "stoa/plugin"
import { Market } from "../Market.ts"
import { VendorNotFound } from "../vendors/Vendor.ts"
import { readAncestors } from "./CategoryRepo.ts"
import { type CommissionFacts, readFacts } from "./CommissionFactsRepo.ts"
import { commissionRules } from "./CommissionRule.ts"
import { chooseCommission, type Sale } from "./CommissionTerms.ts"

/** A line that is to be sold for a vendor, in the currency of its order. */
type LineForSale = Pick<Sale, "vendorId"> & { readonly entityId: EntityId; readonly currency: string }

/** A hypothetical sale in the store's currency. */
export const ImaginedSale = Schema.Struct({
  vendorId: Uuid,
  categorySlug: Schema.optional(Text).pipe(about("Category of the goods; absent: none.")),
  volumeCents: Schema.optional(
    Amount.annotate({ description: "Sold in the last thirty days; default: what the vendor really sold." })
  )
})

/** More rules than anybody can keep track of, and few enough to choose from in memory. */
const activeRules = Market.use(({ db }) => db.table(commissionRules).list({ isActive: true }))

const saleOf = (facts: CommissionFacts, { currency, entityId, vendorId }: LineForSale, at: Date): Sale => {
  const vendor = facts.vendors.find(({ id }) => id === vendorId)
  return {
    vendorId,
    tier: vendor?.tier ?? null,
    commissionRateBps: vendor?.rate ?? null,
    categories: new Map(Object.entries(facts.categories.find(({ entity }) => entity === entityId)?.slugs ?? {})),
    volumeCents: vendor?.volumes[currency] ?? 0,
    at
  }
}

/** What the store keeps of each line as of now (contract, plugins §1.4), in two statements for any number of lines. */
export const commissionTerms = Effect.fn("Commissions.termsFor")(function*(lines: ReadonlyArray<LineForSale>) {
  if (lines.length === 0) return []
  const { db, settings } = yield* Market
  const facts = yield* db.use(readFacts)(
    [...new Set(lines.map(({ vendorId }) => vendorId))],
    [...new Set(lines.map(({ entityId }) => entityId))]
  )
  const [known, at] = [yield* activeRules, yield* DateTime.nowAsDate]
  return lines.map((line) => chooseCommission(known, saleOf(facts, line, at), settings.defaultCommissionRateBps))
})

/** The terms that a sale would have. 404 for an unknown vendor. */
export const previewCommission = Effect.fn("Commissions.preview")(
  function*({ categorySlug, vendorId, volumeCents }: typeof ImaginedSale.Type) {
    const { db, host, settings } = yield* Market
    const facts = yield* db.use(readFacts)([vendorId], [])
    if (facts.vendors.length === 0) return yield* new VendorNotFound()
    // Of nothing in particular: no category counts but the one that is asked about.
    const line = { vendorId, entityId: newId<EntityId>(), currency: host.config.defaultCurrency }
    const sale = saleOf(facts, line, yield* DateTime.nowAsDate)
    const imagined = {
      ...sale,
      categories: categorySlug === undefined
        ? sale.categories
        : (yield* db.use(readAncestors)([categorySlug])).get(categorySlug) ?? sale.categories,
      volumeCents: volumeCents ?? sale.volumeCents
    }
    return chooseCommission(yield* activeRules, imagined, settings.defaultCommissionRateBps)
  }
)
