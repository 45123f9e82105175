import { Context, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { CurrentActor } from "../access/Actor.ts"
import { changeLogInsert } from "../events/ChangeLogRepo.ts"
import type { Import, StagedRow } from "./Import.ts"
import type { ImportResult } from "./ImportBatch.ts"
import { importChange } from "./ImportRepo.ts"
import { type ImportRow, toImport } from "./ImportRows.ts"

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
  readonly afterCommit: Effect.Effect<void, never, CurrentActor>
}

/** Processes the rows of a batch inside its transaction. */
export type Work = (
  rows: ReadonlyArray<StagedRow>,
  record: Import
) => Effect.Effect<Worked, never, CurrentActor>

/** Maximum bytes of records in a batch, unless its first record alone is larger. */
const maxBatchBytes = 4_194_304

/** Batches of an import: each is one transaction, which moves the import on. */
export class BatchRepo extends Context.Service<BatchRepo, {
  /**
   * Processes and counts the next rows, all or none. Locks the import's row, so that two workers of one import take
   * turns and no row is processed twice. Undefined: the import has ended or does not exist. A rehearsal (`dryRun`)
   * counts the results and rolls back the writes.
   */
  readonly next: (
    id: string,
    limit: number,
    work: Work
  ) => Effect.Effect<
    { readonly record: Import; readonly afterCommit: Worked["afterCommit"] } | undefined,
    never,
    CurrentActor
  >
}>()("stoa/domain/import-export/BatchRepo") {
  static readonly layer = Layer.effect(BatchRepo, Effect.map(SqlClient.SqlClient, (sql) => make(sql)))
}

/** Carries the result of a rehearsal out of the savepoint it rolls back. */
class Rehearsed {
  readonly worked: Worked
  constructor(worked: Worked) {
    this.worked = worked
  }
}

const countOf = (results: ReadonlyArray<RowResult>, tag: ImportResult["_tag"]): number =>
  results.filter(({ result }) => result._tag === tag).length

const refusalsOf = (results: ReadonlyArray<RowResult>) =>
  results.flatMap(({ key, line, result, row }) =>
    result._tag === "refused" ? [{ row, line, key: key?.slice(0, 500) ?? null, issues: result.issues }] : []
  )

const make = (sql: SqlClient.SqlClient): BatchRepo["Service"] => {
  const locked = (organization: string, id: string) =>
    sql<ImportRow>`select * from imports where id = ${id}::uuid and organization_id = ${organization}
      and state in ('queued', 'running') for no key update`

  const waiting = (organization: string, { id, read }: Import, limit: number) =>
    sql<StagedRow>`select row, line, record, problem from (
        select row, line, record, problem, sum(bytes) over (order by row) as total from (
          select * from import_rows where import_id = ${id}::uuid and organization_id = ${organization}
            and row > ${read} order by row limit ${limit}) r) r
      where total <= ${maxBatchBytes} or row = ${read + 1} order by row`

  /** Undone by its failure, which is the way out of a savepoint. */
  const rehearse = (work: Effect.Effect<Worked, never, CurrentActor>) =>
    sql.withTransaction(Effect.flatMap(work, (worked) => Effect.fail(new Rehearsed(worked)))).pipe(
      Effect.catch((error) => error instanceof Rehearsed ? Effect.succeed(error.worked) : Effect.die(error))
    )

  /** Delete processed records at once: files hold personal data, and nothing reads the records again. */
  const count = (record: Import, results: ReadonlyArray<RowResult>) => {
    const read = record.read + results.length
    const over = read >= record.rows
    return sql<
      ImportRow
    >`with refused as (insert into import_refusals (organization_id, import_id, row, line, key, issues)
        select ${record.organizationId}, ${record.id}::uuid, x.row, x.line, x.key, x.issues
        from jsonb_to_recordset(${JSON.stringify(refusalsOf(results))}::jsonb)
          as x(row int, line int, key text, issues jsonb)),
      worked as (delete from import_rows where import_id = ${record.id}::uuid
        and organization_id = ${record.organizationId} and row <= ${read})
      update imports set read = ${read}, created = created + ${countOf(results, "created")},
        updated = updated + ${countOf(results, "updated")}, unchanged = unchanged + ${countOf(results, "unchanged")},
        refused = refused + ${countOf(results, "refused")}, state = ${over ? "completed" : "running"},
        started_at = coalesce(started_at, now()), updated_at = clock_timestamp(),
        completed_at = case when ${over}::boolean then clock_timestamp() end
      where id = ${record.id}::uuid and organization_id = ${record.organizationId} returning *`
  }

  const next = Effect.fn("BatchRepo.next")(
    function*(id: string, limit: number, work: Work) {
      const actor = yield* CurrentActor
      const [found] = yield* locked(actor.organizationId, id)
      if (found === undefined) return undefined
      const before = toImport(found)
      const rows = yield* waiting(actor.organizationId, before, limit)
      const nothing: Worked = { results: [], afterCommit: Effect.void }
      const worked = rows.length === 0
        ? nothing
        : yield* before.dryRun
          ? rehearse(work(rows, before))
          : work(rows, before)
      const [counted] = yield* count(before, worked.results)
      if (counted === undefined) return yield* Effect.die(new Error("A locked import is gone."))
      const record = toImport(counted)
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
