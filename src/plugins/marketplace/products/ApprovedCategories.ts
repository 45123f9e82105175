import { Context, Effect, Layer } from "effect"
import { type EntityId, invalid, PluginDatabase } from "stoa/plugin"
import { vendors } from "../vendors/VendorTables.ts"
import { categoriesOf, outsideOf } from "./ApprovedCategoryRepo.ts"

class CategoryNotApproved extends invalid(
  "CategoryNotApproved",
  "categories",
  (vendor: string, refused: string, approved: string) =>
    `${vendor} may not sell in ${refused}; approved for it: ${approved}`,
  "category_not_approved"
) {}

/**
 * Where a vendor may sell (contract, plugins §1.1): with a list of approved categories only in these and below them,
 * without a list everywhere. Products without a category are allowed. Shortening the list, or moving a category, leaves
 * products where they are.
 */
export class ApprovedCategories
  extends Context.Service<ApprovedCategories>()("stoa/plugins/marketplace/products/ApprovedCategories", {
    make: Effect.map(PluginDatabase, (db) => {
      const limits = Effect.fnUntraced(function*(vendorId: string) {
        const vendor = yield* db.table(vendors).first({ id: vendorId })
        const approved = vendor?.approvedCategories ?? []
        return vendor === undefined || approved.length === 0 ? undefined : { name: vendor.name, approved }
      })

      const within = Effect.fnUntraced(
        function*(
          { approved, name }: { readonly name: string; readonly approved: ReadonlyArray<string> },
          of: ReadonlyArray<string>
        ) {
          const outside = of.length === 0 ? [] : yield* outsideOf(db.sql, of, approved)
          if (outside.length === 0) return
          const named = outside.map((slug) => `"${slug}"`).join(", ")
          return yield* new CategoryNotApproved(name, named, approved.join(", "))
        }
      )

      /** 422 that names those of these categories, given by their slugs, in which the vendor may not sell. */
      const admit = Effect.fn("ApprovedCategories.admit")(function*(vendorId: string, of: ReadonlyArray<string>) {
        const limit = yield* limits(vendorId)
        if (limit !== undefined) yield* within(limit, of)
      })

      /** The same for all categories of an entity. */
      const admitEntity = Effect.fn("ApprovedCategories.admitEntity")(function*(vendorId: string, entityId: EntityId) {
        const limit = yield* limits(vendorId)
        if (limit !== undefined) yield* within(limit, yield* categoriesOf(db.sql, entityId))
      })

      return { admit, admitEntity }
    })
  })
{
  static readonly layer = Layer.effect(ApprovedCategories, ApprovedCategories.make)
}
