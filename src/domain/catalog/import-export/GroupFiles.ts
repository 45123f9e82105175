import { Context, Effect, Equal, Layer, Result } from "effect"
import { CurrentActor } from "../../access/Actor.ts"
import { newId } from "../../ids/Id.ts"
import type { BatchResult, Outcome } from "../../import-export/Outcome.ts"
import type { Brand } from "../brands/Brand.ts"
import { BrandFileRepo, type PlannedBrand } from "./BrandFileRepo.ts"
import { CategoryFileRepo } from "./CategoryFileRepo.ts"
import { planCategory, type PlannedCategory } from "./CategoryPlan.ts"
import type { BrandRecord, CategoryRecord } from "./GroupRecords.ts"

/** Categories and brands in files: what entities of a catalog are grouped by (docs/import-export.md). */
export class GroupFiles extends Context.Service<GroupFiles, {
  /**
   * Lays each record over the category of its slug, or makes that. No slug may come twice. To be called inside of a
   * transaction, which holds the tree from here on; a constant number of statements.
   */
  readonly putCategories: (
    records: ReadonlyArray<CategoryRecord>
  ) => Effect.Effect<BatchResult, never, CurrentActor>
  /** The same for brands. */
  readonly putBrands: (records: ReadonlyArray<BrandRecord>) => Effect.Effect<BatchResult, never, CurrentActor>
  /** Pages of categories, parents before children. */
  readonly categories: CategoryFileRepo["Service"]["after"]
  readonly brands: BrandFileRepo["Service"]["after"]
}>()("stoa/domain/catalog/import-export/GroupFiles") {
  static readonly layer = Layer.effect(
    GroupFiles,
    Effect.gen(function*() {
      const categories = yield* CategoryFileRepo
      const brands = yield* BrandFileRepo

      const putCategories = Effect.fn("GroupFiles.putCategories")(
        function*(records: ReadonlyArray<CategoryRecord>) {
          const state = yield* categories.read(records)
          const plans: Array<PlannedCategory> = []
          const outcomes = records.map((record): Outcome => {
            const plan = planCategory(record, state)
            if (Result.isFailure(plan)) return { _tag: "refused", issues: plan.failure }
            plans.push(plan.success)
            const { before, changes } = plan.success
            return { _tag: before === undefined ? "created" : changes.length === 0 ? "unchanged" : "updated" }
          })
          yield* categories.write(plans)
          const result: BatchResult = { outcomes, told: Effect.void }
          return result
        }
      )

      const putBrands = Effect.fn("GroupFiles.putBrands")(function*(records: ReadonlyArray<BrandRecord>) {
        const { organizationId } = yield* CurrentActor
        const known = yield* brands.read(records.map(({ slug }) => slug))
        const plans: Array<PlannedBrand> = []
        const outcomes = records.map((record): Outcome => {
          const before = known.get(record.slug)
          const after = brandAfter(before, record, organizationId)
          if (before !== undefined && Equal.equals(before, after)) return { _tag: "unchanged" }
          plans.push({ before, after })
          return { _tag: before === undefined ? "created" : "updated" }
        })
        yield* brands.write(plans)
        const result: BatchResult = { outcomes, told: Effect.void }
        return result
      })

      return { putCategories, putBrands, categories: categories.after, brands: brands.after }
    })
  )
}

const brandAfter = (before: Brand | undefined, record: BrandRecord, organizationId: string): Brand => ({
  id: before?.id ?? newId(),
  organizationId,
  slug: record.slug,
  displayName: record.displayName ?? before?.displayName ?? record.slug,
  metadata: record.metadata ?? before?.metadata ?? {}
})
