import { Context, Effect, Layer, Result } from "effect"
import { CurrentActor } from "../../access/Actor.ts"
import { Hooks } from "../../hooks/Hooks.ts"
import type { BatchResult, ImportResult } from "../../import-export/ImportBatch.ts"
import { batchHooks } from "./CatalogBatchHooks.ts"
import { CatalogBatchRepo } from "./CatalogBatchRepo.ts"
import { type PlannedRecord, planRecord } from "./CatalogPlan.ts"
import type { CatalogRecord } from "./CatalogRecord.ts"
import type { CatalogState } from "./CatalogState.ts"
import { CatalogStateRepo } from "./CatalogStateRepo.ts"
import { addWrites, noWrites } from "./CatalogWrites.ts"
import { FieldStateRepo } from "./FieldStateRepo.ts"

/** Creates and changes many entities at once, for imports (docs/import-export.md). */
export class CatalogBatches extends Context.Service<CatalogBatches, {
  /**
   * Merges each record into the entity of its slug, or creates it. Slugs must be unique within the batch. Call it
   * inside a transaction: a constant number of statements, and one result per record.
   */
  readonly apply: (records: ReadonlyArray<CatalogRecord>) => Effect.Effect<BatchResult, never, CurrentActor>
}>()("stoa/domain/catalog/import-export/CatalogBatches") {
  static readonly layer = Layer.effect(
    CatalogBatches,
    Effect.gen(function*() {
      const states = yield* CatalogStateRepo
      const repo = yield* CatalogBatchRepo
      const fields = yield* FieldStateRepo
      const { asked, committed, listened, recorded } = batchHooks(yield* Hooks)

      /** The records after the hooks, or the reason of a refusal. */
      const heard = Effect.fnUntraced(function*(records: ReadonlyArray<CatalogRecord>, state: CatalogState) {
        if (!listened()) return records.map(Result.succeed)
        return yield* Effect.forEach(records, (record) => {
          const stored = state.entities.get(record.slug)
          const type = record.type ?? stored?.entity.type
          return type === undefined
            ? Effect.succeed(Result.succeed(record))
            : Effect.result(asked(record, type, stored))
        })
      })

      const apply = Effect.fn("CatalogBatches.apply")(function*(records: ReadonlyArray<CatalogRecord>) {
        const { organizationId } = yield* CurrentActor
        const state = yield* states.read(records)
        const asking = yield* heard(records, state)
        const fieldState = yield* fields.read(asking.flatMap((one) => {
          if (Result.isFailure(one)) return []
          const { customFields = {}, slug, type = state.entities.get(slug)?.entity.type } = one.success
          return type === undefined ? [] : [{ type, fields: customFields }]
        }))
        const results: Array<ImportResult> = []
        const plans: Array<PlannedRecord> = []
        const writes = noWrites()
        for (const record of asking) {
          if (Result.isFailure(record)) {
            results.push({ _tag: "refused", issues: record.failure.error.details.issues })
            continue
          }
          const plan = planRecord(record.success, state, fieldState, organizationId)
          if (Result.isFailure(plan)) {
            results.push({ _tag: "refused", issues: plan.failure })
            continue
          }
          plans.push(plan.success)
          addWrites(writes, plan.success.writes)
          results.push({ _tag: plan.success.outcome })
        }
        yield* repo.write(writes)
        yield* committed(plans)
        const result: BatchResult = { results, afterCommit: recorded(plans) }
        return result
      })

      return { apply }
    })
  )
}
