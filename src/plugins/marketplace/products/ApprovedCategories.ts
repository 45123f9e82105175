import { Effect } from "effect"
import { type EntityId, invalid } from "stoa/plugin"
import { categoriesOf, readAncestors } from "../commissions/CategoryRepo.ts"
import { Market } from "../Market.ts"
import { vendors } from "../vendors/Vendor.ts"

class CategoryNotApproved extends invalid(
  "CategoryNotApproved",
  "categories",
  (vendor: string, refused: string, approved: string) =>
    `${vendor} may not sell in ${refused}. Approved categories: ${approved}.`,
  "category_not_approved"
) {}

/**
 * Where a vendor may sell (contract, plugins §1.1): with a list of approved categories only in these and below them,
 * without a list everywhere. Products without a category are allowed. Shortening the list, or moving a category, leaves
 * products where they are. Asked about categories by their slugs, or about all those of an entity: 422 names those in which
 * the vendor may not sell.
 */
export const admitCategories = Effect.fn("ApprovedCategories.admit")(
  function*(vendorId: string, of: ReadonlyArray<string> | { readonly entityId: EntityId }) {
    const { db } = yield* Market
    const vendor = yield* db.table(vendors).find(vendorId)
    const approved = vendor?.approvedCategories ?? []
    if (vendor === undefined || approved.length === 0) return
    const slugs = "entityId" in of ? yield* db.use(categoriesOf)(of.entityId) : of
    if (slugs.length === 0) return
    const ancestors = yield* db.use(readAncestors)(slugs)
    const outside = [...new Set(slugs)].filter((slug) => !approved.some((one) => ancestors.get(slug)?.has(one)))
    if (outside.length === 0) return
    const named = outside.toSorted().map((slug) => `"${slug}"`).join(", ")
    return yield* new CategoryNotApproved(vendor.name, named, approved.join(", "))
  }
)
