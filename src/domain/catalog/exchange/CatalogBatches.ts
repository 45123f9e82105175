import { Context, Effect, Layer, Result } from "effect"
import { CurrentActor } from "../../access/Actor.ts"
import { type BatchResult, type Outcome, refusedFor } from "../../exchange/Outcome.ts"
import { Hooks } from "../../hooks/Hooks.ts"
import { EntityFieldRepo } from "../fields/EntityFieldRepo.ts"
import { batchHooks } from "./CatalogBatchHooks.ts"
import { CatalogBatchRepo } from "./CatalogBatchRepo.ts"
import { type PlannedRecord, planRecord } from "./CatalogPlan.ts"
import type { CatalogRecord } from "./CatalogRecord.ts"
import { CatalogStateRepo } from "./CatalogStateRepo.ts"
import { addWrites, noWrites } from "./CatalogWrites.ts"

/** Creates and changes many entities at once, as files bring them (docs/import-export.md). */
export class CatalogBatches extends Context.Service<CatalogBatches, {
  /**
   * Lays each record over the entity of its slug, or makes that. No slug may come twice. To be called inside of a
   * transaction: a constant number of statements, and one outcome for each record.
   */
  readonly apply: (records: ReadonlyArray<CatalogRecord>) => Effect.Effect<BatchResult, never, CurrentActor>
}>()("stoa/domain/catalog/exchange/CatalogBatches") {
  static readonly layer = Layer.effect(
    CatalogBatches,
    Effect.gen(function*() {
      const states = yield* CatalogStateRepo
      const repo = yield* CatalogBatchRepo
      const fields = yield* EntityFieldRepo
      const { asked, committed, listened, told } = batchHooks(yield* Hooks)

      const apply = Effect.fn("CatalogBatches.apply")(function*(records: ReadonlyArray<CatalogRecord>) {
        const { organizationId } = yield* CurrentActor
        const state = yield* states.read(records)
        const demanding = yield* fields.demanding([...new Set(records.flatMap(({ type }) => type ?? []))])
        const outcomes: Array<Outcome> = []
        const plans: Array<PlannedRecord> = []
        const writes = noWrites()
        for (const sent of records) {
          const stored = state.entities.get(sent.slug)
          const type = sent.type ?? stored?.entity.type
          const record = listened() && type !== undefined
            ? yield* Effect.result(asked(sent, type, stored))
            : Result.succeed(sent)
          if (Result.isFailure(record)) {
            outcomes.push({ _tag: "refused", issues: record.failure.error.details.issues })
            continue
          }
          const becomes = record.success.type ?? type ?? ""
          if (becomes !== stored?.entity.type && demanding.has(becomes)) {
            outcomes.push(refusedFor("type", wantsFields, "required"))
            continue
          }
          const plan = planRecord(record.success, state, organizationId)
          if (Result.isFailure(plan)) {
            outcomes.push({ _tag: "refused", issues: plan.failure })
            continue
          }
          plans.push(plan.success)
          addWrites(writes, plan.success.writes)
          outcomes.push({ _tag: plan.success.outcome })
        }
        yield* repo.write(writes)
        yield* committed(plans)
        const result: BatchResult = { outcomes, told: told(plans) }
        return result
      })

      return { apply }
    })
  )
}

const wantsFields =
  "New things of this type have custom fields that are required or have a default, and files carry none."
