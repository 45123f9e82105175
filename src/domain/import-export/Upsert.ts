import { Effect, Equal, Result } from "effect"
import type { CurrentActor } from "../platform/access/Actor.ts"
import { RowBatch } from "../platform/batching/RowBatch.ts"
import { RowBatchRepo } from "../platform/batching/RowBatchRepo.ts"
import type { Issue } from "../platform/errors/ApiErrors.ts"
import type { Change } from "../platform/events/Event.ts"
import type { Import, PlannedChange } from "./Import.ts"

export type ImportResult =
  | {
    readonly _tag: "created" | "updated" | "unchanged"
    readonly warnings?: ReadonlyArray<Issue>
    /** Of a rehearsal. */
    readonly changes?: ReadonlyArray<PlannedChange>
  }
  | {
    readonly _tag: "refused"
    readonly issues: ReadonlyArray<Issue>
    /** The record was written, and parts of it were not. */
    readonly isWritten?: true
  }

export const changesOf = (result: ImportResult | undefined): ReadonlyArray<PlannedChange> =>
  result === undefined || result._tag === "refused" ? [] : result.changes ?? []

const changedFields = ({ before, payload }: Change): ReadonlyArray<string> => {
  if (before === undefined || before === null) return []
  const stored = new Map<string, unknown>(Object.entries(before))
  return Object.entries(payload).flatMap(([name, value]) =>
    name === "updatedAt" || Equal.equals(value, stored.get(name)) ? [] : [name]
  )
}

/** Changes by their types, in the order in which they come. */
const plannedChanges = (changes: ReadonlyArray<Change>): ReadonlyArray<PlannedChange> =>
  [...Map.groupBy(changes, ({ type }) => type)].map(([type, all]) => ({
    type,
    count: all.length,
    fields: [...new Set(all.flatMap(changedFields))]
  }))

export const warningsOf = (result: ImportResult | undefined): ReadonlyArray<Issue> =>
  result === undefined || result._tag === "refused" ? [] : result.warnings ?? []

export interface BatchResult {
  readonly results: ReadonlyArray<ImportResult>
  readonly afterCommit: Effect.Effect<void, never, CurrentActor>
}

export interface BatchContext
  extends Pick<Import, "organizationId" | "currency" | "dryRun" | "pictures" | "warehouse">
{
  readonly now: Date
  /** The store elsewhere that new products come from. */
  readonly source: string | null
}

/** Inserts or updates records, one result each, in a constant number of statements. Runs inside a transaction. */
export type Upsert<R> = (
  records: ReadonlyArray<R>,
  of: BatchContext
) => Effect.Effect<BatchResult, never, CurrentActor>

interface PassedOver {
  readonly warnings: ReadonlyArray<Issue>
}

type Planned = Result.Result<"new" | "stored" | PassedOver, ReadonlyArray<Issue>>

/**
 * `load` reads and locks existing rows and references. `plan` adds a record's changed rows to the draft, and records
 * for later references to the state; a refused record adds nothing. `written` runs after the statement.
 */
export const upsertOf = <R, S>(
  load: (records: ReadonlyArray<R>, of: BatchContext) => Effect.Effect<S, never, CurrentActor>,
  plan: (record: R, state: S & BatchContext, draft: RowBatch, index: number) => Planned,
  written: (state: S) => Effect.Effect<void, never, CurrentActor> = () => Effect.void
) =>
  Effect.map(
    RowBatchRepo,
    (repo): Upsert<R> =>
      Effect.fnUntraced(function*(records: ReadonlyArray<R>, of: BatchContext) {
        const loaded = yield* load(records, of)
        const state = { ...of, ...loaded }
        const batch = new RowBatch()
        const results = records.map((record, index): ImportResult => {
          const draft = new RowBatch()
          const planned = plan(record, state, draft, index)
          if (Result.isFailure(planned)) return { _tag: "refused", issues: planned.failure }
          if (typeof planned.success === "object") return { _tag: "unchanged", ...planned.success }
          batch.add(draft)
          if (draft.issues.length > 0) return { _tag: "refused", issues: draft.issues }
          const { changes, later, warnings } = draft
          const _tag = planned.success === "new" ? "created" : changes.length === 0 ? "unchanged" : "updated"
          return { _tag, warnings, changes: of.dryRun ? plannedChanges([...changes, ...later.changes]) : [] }
        })
        yield* repo.write(batch)
        yield* written(loaded)
        const result: BatchResult = { results, afterCommit: batch.afterCommit }
        return result
      })
  )

export const passedOver = (path: string, message: string, code: string): Result.Result<PassedOver> =>
  Result.succeed({ warnings: [{ path, message, code }] })

export const refused = (path: string, message: string, code = "invalid"): Result.Result<never, ReadonlyArray<Issue>> =>
  Result.fail([{ path, message, code }])
