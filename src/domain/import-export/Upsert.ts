import { Effect, Result } from "effect"
import type { CurrentActor } from "../access/Actor.ts"
import type { Issue } from "../errors/ApiErrors.ts"
import { type BatchResult, ImportBatch, type ImportResult } from "./ImportBatch.ts"
import { ImportBatchRepo } from "./ImportBatchRepo.ts"

/** Inserts or updates records; one result each. Runs inside a transaction. */
export type Upsert<R> = (records: ReadonlyArray<R>) => Effect.Effect<BatchResult, never, CurrentActor>

/** A record is new, or exists and may have changed. */
type Planned = Result.Result<"new" | "known", ReadonlyArray<Issue>>

/**
 * The upsert of one kind of records. `load` reads and locks existing rows and references, in a constant number of
 * statements. `plan` adds the changed rows of a record to the draft, and records for later references to the state; a
 * refused record adds nothing to either. `written` runs after the statement that writes the batch.
 */
export const upsertOf = <R, S>(
  load: (records: ReadonlyArray<R>) => Effect.Effect<S, never, CurrentActor>,
  plan: (record: R, state: S, draft: ImportBatch, index: number) => Planned,
  written: (state: S) => Effect.Effect<void, never, CurrentActor> = () => Effect.void
) =>
  Effect.map(ImportBatchRepo, (repo): Upsert<R> =>
    Effect.fnUntraced(function*(records: ReadonlyArray<R>) {
      const state = yield* load(records)
      const batch = new ImportBatch()
      const results = records.map((record, index): ImportResult => {
        const draft = new ImportBatch()
        const planned = plan(record, state, draft, index)
        if (Result.isFailure(planned)) return { _tag: "refused", issues: planned.failure }
        batch.add(draft)
        return { _tag: planned.success === "new" ? "created" : draft.changes.length === 0 ? "unchanged" : "updated" }
      })
      yield* repo.write(batch)
      yield* written(state)
      const result: BatchResult = { results, afterCommit: batch.afterCommit }
      return result
    }))

/** Fails with one issue. */
export const refused = (path: string, message: string, code = "invalid"): Result.Result<never, ReadonlyArray<Issue>> =>
  Result.fail([{ path, message, code }])
