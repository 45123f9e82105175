import { Context, Effect, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { type CurrentActor, currentOrganization } from "../platform/access/Actor.ts"
import { type Issue, wholeIssue } from "../platform/errors/ApiErrors.ts"
import type { ImportId } from "../platform/ids/Id.ts"
import { decoding } from "../platform/records/Rows.ts"
import { Time } from "../platform/text/Time.ts"
import { type ChangedRow, Import } from "./Import.ts"
import { importChanges, importRefusals, imports, importWarnings, recordImport } from "./ImportRepo.ts"
import { type BatchContext, type BatchResult, changesOf, type ImportResult, warningsOf } from "./Upsert.ts"

const StagedRow = Schema.Struct({
  row: Schema.Int,
  line: Schema.Int,
  record: Schema.Unknown,
  problem: Schema.NullOr(Schema.String)
})
export type StagedRow = typeof StagedRow.Type

export interface RowResult {
  readonly row: number
  readonly line: number
  readonly key: string | null
  readonly result: ImportResult
}

export interface Worked extends Pick<BatchResult, "afterCommit"> {
  readonly results: ReadonlyArray<RowResult>
}

export type Work = (rows: ReadonlyArray<StagedRow>, of: BatchContext) => Effect.Effect<Worked, never, CurrentActor>

/** Bytes of records in a batch, unless its first record alone is larger. */
const maxBatchBytes = 4_194_304

const LockedImport = Schema.Struct({ ...Import.fields, now: Time })

/** The records that have issues, as they are reported. */
const reported = (results: ReadonlyArray<RowResult>, issuesOf: (result: ImportResult) => ReadonlyArray<Issue>) =>
  results.flatMap(({ key, line, result, row }) => {
    const issues = issuesOf(result)
    return issues.length > 0
      ? [{ row, line, key: key?.slice(0, 500) ?? null, issues: issues.map((one) => wholeIssue(one, "The record")) }]
      : []
  })

/** Records that a rehearsal creates or changes. */
const plannedBy = (results: ReadonlyArray<RowResult>): ReadonlyArray<ChangedRow> =>
  results.flatMap(({ key, line, result, row }) =>
    result._tag === "created" || result._tag === "updated"
      ? [{ row, line, key: key?.slice(0, 500) ?? null, result: result._tag, changes: changesOf(result) }]
      : []
  )

const refusalsOf = (result: ImportResult) => result._tag === "refused" ? result.issues : []

const insertChanges = (
  sql: SqlClient.SqlClient,
  { id, organizationId }: Pick<Import, "id" | "organizationId">,
  rows: ReadonlyArray<ChangedRow>
) =>
  sql`insert into import_changes ${
    importChanges.insert(sql, {
      organizationId: sql`${organizationId}`,
      importId: sql`${id}::uuid`,
      row: "x.row",
      line: "x.line",
      key: "x.key",
      result: "x.result",
      changes: "x.changes"
    })
  } from jsonb_to_recordset(${JSON.stringify(rows)}::jsonb)
      as x(row int, line int, key text, result text, changes jsonb)`

const make = (sql: SqlClient.SqlClient) => {
  const columns = sql.literal(imports.columns())

  const waiting = ({ id, organizationId, read }: Import, limit: number) =>
    decoding(sql, StagedRow)`select row, line, record, problem from (
        select row, line, record, problem, sum(bytes) over (order by row) as total from (
          select * from import_rows where import_id = ${id}::uuid and organization_id = ${organizationId}
            and row > ${read} order by row limit ${limit}) r) r
      where total <= ${maxBatchBytes} or row = ${read + 1} order by row`

  /** The way out of a savepoint is a failure, which carries the result. */
  const rehearse = (work: Effect.Effect<Worked, never, CurrentActor>) =>
    sql.withTransaction(Effect.flip(work)).pipe(
      Effect.catch((error) => "results" in error ? Effect.succeed(error) : Effect.die(error))
    )

  /** Deletes processed records at once: files hold personal data. */
  const count = ({ dryRun, id, organizationId, read, rows }: Import, results: ReadonlyArray<RowResult>) => {
    const after = read + results.length
    const isOver = after >= rows
    const countOf = (tag: ImportResult["_tag"]) => results.filter(({ result }) => result._tag === tag).length
    const warned = reported(results, warningsOf)
    const changed = dryRun ? plannedBy(results) : []
    const insertInto = (table: typeof importRefusals, rows: ReturnType<typeof reported>) =>
      sql`insert into ${sql(table.name)} ${
        table.insert(sql, {
          organizationId: sql`${organizationId}`,
          importId: sql`${id}::uuid`,
          row: "x.row",
          line: "x.line",
          key: "x.key",
          issues: "x.issues"
        })
      } from jsonb_to_recordset(${JSON.stringify(rows)}::jsonb) as x(row int, line int, key text, issues jsonb)`
    return imports.rows(sql)`with refused as (${insertInto(importRefusals, reported(results, refusalsOf))}),
      warned as (${insertInto(importWarnings, warned)}),
      changed as (${insertChanges(sql, { id, organizationId }, changed)}),
      processed as (delete from import_rows where import_id = ${id}::uuid
        and organization_id = ${organizationId} and row <= ${after})
      update imports set read = ${after}, created = created + ${countOf("created")},
        updated = updated + ${countOf("updated")}, unchanged = unchanged + ${countOf("unchanged")},
        refused = refused + ${countOf("refused")}, warned = warned + ${warned.length}, state = ${
      isOver ? "completed" : "running"
    },
        started_at = coalesce(started_at, now()), updated_at = clock_timestamp(),
        completed_at = case when ${isOver}::boolean then clock_timestamp() end
      where id = ${id}::uuid and organization_id = ${organizationId} returning ${columns}`
  }

  /**
   * Processes the next rows, all or none. Locks the import's row: no row is processed twice. Undefined: the import has
   * ended or does not exist. A rehearsal (`dryRun`) rolls back the writes.
   */
  const next = Effect.fn("BatchRepo.next")(
    function*(id: ImportId, limit: number, work: Work) {
      const [found] = yield* decoding(sql, LockedImport)`select ${columns}, now() as now from imports
        where id = ${id}::uuid and organization_id = ${yield* currentOrganization} and state in ('queued', 'running')
        for no key update`
      if (found === undefined) return undefined
      const { now, ...before } = found
      const rows = yield* waiting(before, limit)
      const working = rows.length === 0
        ? Effect.succeed<Worked>({ results: [], afterCommit: Effect.void })
        : work(rows, { ...before, now, source: null })
      const worked = yield* before.dryRun ? rehearse(working) : working
      const [record] = yield* count(before, worked.results)
      if (record === undefined) return yield* Effect.die(new Error("A locked import is gone."))
      if (record.state === "completed") yield* recordImport(sql, "imports.complete", record, before)
      return { record, afterCommit: before.dryRun ? Effect.void : worked.afterCommit }
    },
    sql.withTransaction,
    Effect.orDie
  )

  return { next }
}

export class BatchRepo extends Context.Service<BatchRepo>()("stoa/domain/import-export/BatchRepo", {
  make: Effect.map(SqlClient.SqlClient, make)
}) {
  static readonly layer = Layer.effect(BatchRepo, BatchRepo.make)
}
