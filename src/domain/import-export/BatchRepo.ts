import { Context, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { CurrentActor } from "../access/Actor.ts"
import { changeLogInsert } from "../events/ChangeLogRepo.ts"
import type { Import, StagedRow } from "./Import.ts"
import { importChange, imports } from "./ImportRepo.ts"
import type { BatchContext, BatchResult, ImportResult } from "./Upsert.ts"

/** What became of a row. */
export interface RowResult {
  readonly row: number
  readonly line: number
  readonly key: string | null
  readonly result: ImportResult
}

/** The result of a batch: results of its first rows, at least one, and the hooks that run after the commit. */
export interface Worked {
  readonly results: ReadonlyArray<RowResult>
  readonly afterCommit: BatchResult["afterCommit"]
}

/** Processes the rows of a batch inside its transaction. */
export type Work = (rows: ReadonlyArray<StagedRow>, of: BatchContext) => Effect.Effect<Worked, never, CurrentActor>

/** Maximum bytes of records in a batch, unless its first record alone is larger. */
const maxBatchBytes = 4_194_304

/** Carries the result of a rehearsal out of the savepoint it rolls back. */
class Rehearsed {
  readonly worked: Worked
  constructor(worked: Worked) {
    this.worked = worked
  }
}

const refusalsOf = (results: ReadonlyArray<RowResult>) =>
  results.flatMap(({ key, line, result, row }) =>
    result._tag === "refused" ? [{ row, line, key: key?.slice(0, 500) ?? null, issues: result.issues }] : []
  )

const make = (sql: SqlClient.SqlClient) => {
  const columns = sql.literal(imports.columns())

  const locked = (organization: string, id: string) =>
    sql<Import & { readonly now: Date }>`select ${columns}, now() as now from imports
      where id = ${id}::uuid and organization_id = ${organization} and state in ('queued', 'running')
      for no key update`

  const waiting = ({ id, organizationId, read }: Import, limit: number) =>
    sql<StagedRow>`select row, line, record, problem from (
        select row, line, record, problem, sum(bytes) over (order by row) as total from (
          select * from import_rows where import_id = ${id}::uuid and organization_id = ${organizationId}
            and row > ${read} order by row limit ${limit}) r) r
      where total <= ${maxBatchBytes} or row = ${read + 1} order by row`

  /** Undone by its failure, which is the way out of a savepoint. */
  const rehearse = (work: Effect.Effect<Worked, never, CurrentActor>) =>
    sql.withTransaction(Effect.flatMap(work, (worked) => Effect.fail(new Rehearsed(worked)))).pipe(
      Effect.catch((error) => error instanceof Rehearsed ? Effect.succeed(error.worked) : Effect.die(error))
    )

  /** Deletes processed records at once: files hold personal data, and nothing reads the records again. */
  const count = ({ id, organizationId, read, rows }: Import, results: ReadonlyArray<RowResult>) => {
    const after = read + results.length
    const isOver = after >= rows
    const countOf = (tag: ImportResult["_tag"]) => results.filter(({ result }) => result._tag === tag).length
    return imports.rows(
      sql
    )`with refused as (insert into import_refusals (organization_id, import_id, row, line, key, issues)
        select ${organizationId}, ${id}::uuid, x.row, x.line, x.key, x.issues
        from jsonb_to_recordset(${JSON.stringify(refusalsOf(results))}::jsonb)
          as x(row int, line int, key text, issues jsonb)),
      processed as (delete from import_rows where import_id = ${id}::uuid
        and organization_id = ${organizationId} and row <= ${after})
      update imports set read = ${after}, created = created + ${countOf("created")},
        updated = updated + ${countOf("updated")}, unchanged = unchanged + ${countOf("unchanged")},
        refused = refused + ${countOf("refused")}, state = ${isOver ? "completed" : "running"},
        started_at = coalesce(started_at, now()), updated_at = clock_timestamp(),
        completed_at = case when ${isOver}::boolean then clock_timestamp() end
      where id = ${id}::uuid and organization_id = ${organizationId} returning ${columns}`
  }

  /**
   * Processes and counts the next rows, all or none. Locks the import's row, so that two workers of one import take
   * turns and no row is processed twice. Undefined: the import has ended or does not exist. A rehearsal (`dryRun`)
   * counts the results and rolls back the writes.
   */
  const next = Effect.fn("BatchRepo.next")(
    function*(id: string, limit: number, work: Work) {
      const actor = yield* CurrentActor
      const [found] = yield* locked(actor.organizationId, id)
      if (found === undefined) return undefined
      const { now, ...before } = found
      const rows = yield* waiting(before, limit)
      const nothing: Worked = { results: [], afterCommit: Effect.void }
      const working = rows.length === 0 ? Effect.succeed(nothing) : work(rows, { ...before, now })
      const worked = yield* before.dryRun ? rehearse(working) : working
      const [record] = yield* count(before, worked.results)
      if (record === undefined) return yield* Effect.die(new Error("A locked import is gone."))
      if (record.state === "completed") {
        const change = importChange("imports.complete", record, before)
        yield* sql`with entry as (${changeLogInsert(sql, actor, [change])}) select 1`
      }
      return { record, afterCommit: before.dryRun ? Effect.void : worked.afterCommit }
    },
    sql.withTransaction,
    Effect.orDie
  )

  return { next }
}

/** Batches of an import: each is one transaction, which moves the import on. */
export class BatchRepo extends Context.Service<BatchRepo>()("stoa/domain/import-export/BatchRepo", {
  make: Effect.map(SqlClient.SqlClient, make)
}) {
  static readonly layer = Layer.effect(BatchRepo, BatchRepo.make)
}
