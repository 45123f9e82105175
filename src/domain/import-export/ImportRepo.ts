import { Context, Effect, Layer, Schema, Struct } from "effect"
import { SqlClient, SqlError } from "effect/sql"
import { Actor, CurrentActor, currentOrganization } from "../platform/access/Actor.ts"
import { recordChange } from "../platform/events/ChangeLogRepo.ts"
import type { ChangeType } from "../platform/events/Event.ts"
import { ImportId, newId } from "../platform/ids/Id.ts"
import { ownPage } from "../platform/paging/OwnPageRepo.ts"
import type { PageRequest } from "../platform/paging/Paging.ts"
import { refusalOf } from "../platform/records/Constraints.ts"
import { decoding } from "../platform/records/Rows.ts"
import { Table } from "../platform/records/Table.ts"
import { Time } from "../platform/text/Time.ts"
import { maxLines } from "./CsvTable.ts"
import { ChangedRow, Import, type ImportOptions, RefusedRow } from "./Import.ts"

export const imports = new Table("imports", Import, { casts: { bytes: "float8" } })

const ofImport = { organizationId: Schema.String, importId: ImportId }

export const refusedRows = new Table("import_refusals", RefusedRow)

export const warnedRows = new Table("import_warnings", RefusedRow)

export const changedRows = new Table("import_changes", ChangedRow)

const reported = Schema.Struct({ ...ofImport, ...RefusedRow.fields })

export const importRefusals = new Table("import_refusals", reported)

export const importChanges = new Table("import_changes", Schema.Struct({ ...ofImport, ...ChangedRow.fields }))

export const importWarnings = new Table("import_warnings", reported)

const StoredImport = Schema.Struct({
  ...Import.fields,
  actor: Actor,
  keyScope: Schema.NullOr(Schema.String),
  contentHash: Schema.NullOr(Schema.String),
  updatedAt: Time
})

export const storedImports = new Table("imports", StoredImport, {
  casts: { bytes: "float8" },
  unset: [
    "state",
    "bytes",
    "rows",
    "read",
    "created",
    "updated",
    "unchanged",
    "refused",
    "warned",
    "error",
    "keyScope",
    "contentHash",
    "createdAt",
    "updatedAt",
    "startedAt",
    "completedAt"
  ]
})

const ImportRow = Schema.Struct({
  ...ofImport,
  row: Schema.Int,
  line: Schema.Int,
  bytes: Schema.Int,
  record: Schema.Unknown,
  problem: Schema.NullOr(Schema.String),
  key: Schema.NullOr(Schema.String)
})

export const importRows = new Table("import_rows", ImportRow)

type ImportFilter = { readonly [Field in "kind" | "state"]?: Import[Field] | undefined }

export interface FileText {
  readonly line: number
  /** Rows with the key of one before go to its record. */
  readonly key: string | null
  readonly text: string | null
  readonly problem: string | null
}

const Staged = Schema.Struct({ rows: Schema.Int })
const SentActor = Schema.Struct({ actor: Actor })
const Queued = Schema.Struct({ ...Import.fields, contentHash: Schema.NullOr(Schema.String) })
const OpenImport = Schema.Struct(Struct.pick(Import.fields, ["id", "organizationId"]))

export const recordImport = (
  sql: SqlClient.SqlClient,
  type: Extract<ChangeType, `imports.${string}`>,
  record: Import,
  before: Import | null
) => recordChange(sql, { type, entityType: "import", entityId: record.id, payload: record, before })

const stagedRow = (sql: SqlClient.SqlClient, organization: string, after: number) =>
  importRows.insert(sql, {
    organizationId: sql`${organization}`,
    importId: "import.id",
    row: sql`${after}::int + r.at`,
    line: "r.line",
    bytes: "octet_length(r.record)",
    record: "nullif(r.record, '')::jsonb",
    problem: "nullif(r.problem, '')",
    key: "nullif(r.key, '')"
  })

/** Returns how many records there are; undefined if the import went away. */
const makeStage = (sql: SqlClient.SqlClient) =>
  Effect.fn("ImportRepo.stage")(
    function*(id: ImportId, after: number, rows: ReadonlyArray<FileText>, bytes: number) {
      const organization = yield* currentOrganization
      // Texts and not one JSON value: a record's own depth and size are its limits, and not those of a batch.
      const [staged] = yield* decoding(sql, Staged)`with import as (select id from imports
        where id = ${id}::uuid and organization_id = ${organization} and state = 'receiving' and rows = ${after}
        for no key update),
      sent as (select r.* from unnest(${rows.map(({ line }) => line)}::int[],
        ${rows.map(({ text }) => text ?? "")}::text[], ${rows.map(({ problem }) => problem ?? "")}::text[],
        ${rows.map(({ key }) => key ?? "")}::text[]) with ordinality r(line, record, problem, key, n)),
      joined as (update import_rows t set bytes = t.bytes + octet_length(r.record),
          record = jsonb_set(t.record, '{rows}', (t.record->'rows') || (r.record::jsonb->'rows'))
        from import, sent r where t.import_id = import.id and t.organization_id = ${organization} and t.key = r.key
          and jsonb_array_length(t.record->'rows') <= ${maxLines}
        returning t.key),
      kept as (select r.*, row_number() over (order by r.n) as at from sent r where not exists (
        select 1 from import_rows t, import where t.import_id = import.id and t.key = r.key)),
      fresh as (insert into import_rows ${stagedRow(sql, organization, after)} from import, kept r returning 1)
      update imports set rows = ${after} + (select count(*) from fresh), bytes = ${bytes}, updated_at = now()
      where id = (select id from import) and organization_id = ${organization} returning rows`
      return staged?.rows
    },
    Effect.orDie
  )

const makeArrival = (sql: SqlClient.SqlClient) => {
  const begin = Effect.fn("ImportRepo.begin")(function*(options: ImportOptions) {
    const actor = yield* CurrentActor
    const id = newId<ImportId>()
    const { currency, dryRun, fileName, format, kind, pictures = false, warehouse } = options
    yield* sql`insert into imports ${
      storedImports.insert(sql, {
        id: sql`${id}::uuid`,
        organizationId: sql`${actor.organizationId}`,
        kind: sql`${kind}`,
        format: sql`${format}`,
        fileName: sql`${fileName}`,
        dryRun: sql`${dryRun}`,
        currency: sql`${currency}`,
        warehouse: sql`${warehouse}`,
        pictures: sql`${pictures}`,
        actor: sql`${JSON.stringify(actor)}::jsonb`,
        createdBy: sql`${actor.userId ?? actor.keyId ?? null}`
      })
    }`
    return id
  }, Effect.orDie)

  const discard = Effect.fn("ImportRepo.discard")(function*(id: ImportId) {
    yield* sql`delete from imports where id = ${id}::uuid and organization_id = ${yield* currentOrganization}
      and state = 'receiving'`
  }, Effect.orDie)

  /**
   * The file has arrived; call it in a transaction. `earlier`: the import of an earlier request with this key.
   * Undefined if the import was discarded.
   */
  const queue = Effect.fn("ImportRepo.queue")(function*(id: ImportId, key: string | null, contentHash: string) {
    const organization = yield* currentOrganization
    const rows = decoding(sql, Queued)
    const columns = sql.literal(`${imports.columns()}, content_hash as "contentHash"`)
    // Two requests with one key collide at its index, and the second finds the import of the first. A savepoint lets
    // the transaction continue after the collision.
    const queued = yield* sql.withTransaction(rows`update imports i set state = 'queued', updated_at = now(),
        key_scope = ${key}, content_hash = ${contentHash}
      where id = ${id}::uuid and organization_id = ${organization} and state = 'receiving'
        and not exists (select 1 from imports o where o.organization_id = ${organization} and o.key_scope = ${key}::text)
      returning ${columns}`).pipe(
      Effect.catch((error) => refusalOf(error).constraint === "imports_key" ? Effect.succeed([]) : Effect.die(error))
    )
    const [found] = queued.length > 0 ? queued : yield* rows`select ${columns} from imports
      where organization_id = ${organization} and key_scope = ${key}::text`
    if (found === undefined) return undefined
    const { contentHash: hash, ...record } = found
    if (queued.length > 0) yield* recordImport(sql, "imports.create", record, null)
    return { record, earlier: queued.length === 0, sameContent: hash === contentHash }
  }, Effect.orDie)

  const together = <A, E, R>(work: Effect.Effect<A, E, R>) =>
    Effect.catchIf(sql.withTransaction(work), SqlError.isSqlError, Effect.die)

  return { begin, stage: makeStage(sql), discard, queue, together }
}

const makeReads = (sql: SqlClient.SqlClient) => {
  const columns = sql.literal(imports.columns())

  const find = Effect.fn("ImportRepo.find")(function*(id: ImportId) {
    const [found] = yield* imports.rows(sql)`select ${columns} from imports
      where id = ${id}::uuid and organization_id = ${yield* currentOrganization}`
    return found
  }, Effect.orDie)

  const actorOf = Effect.fn("ImportRepo.actorOf")(function*(id: ImportId) {
    const [found] = yield* decoding(sql, SentActor)`select actor from imports
      where id = ${id}::uuid and organization_id = ${yield* currentOrganization}`
    return found?.actor
  }, Effect.orDie)

  const list = Effect.fn("ImportRepo.list")(function*({ kind, state }: ImportFilter, page: PageRequest) {
    return yield* ownPage(sql, imports, "created_at desc, id desc", page, [
      ...(kind === undefined ? [] : [sql`kind = ${kind}`]),
      ...(state === undefined ? [] : [sql`state = ${state}`])
    ], kind === undefined && state === undefined ? "all" : undefined)
  }, Effect.orDie)

  const reportedIn = <A extends object>(rows: Table<A>, count: string) =>
    Effect.fnUntraced(function*(id: ImportId, page: PageRequest) {
      const total = sql`(select ${sql.literal(count)} from imports
        where id = ${id}::uuid and organization_id = ${yield* currentOrganization})`
      return yield* ownPage(sql, rows, "row", page, [sql`import_id = ${id}::uuid`], total)
    }, Effect.orDie)

  const refusals = Effect.fn("ImportRepo.refusals")(reportedIn(refusedRows, "refused"))
  const warnings = Effect.fn("ImportRepo.warnings")(reportedIn(warnedRows, "warned"))

  const changes = Effect.fn("ImportRepo.changes")(
    reportedIn(changedRows, "case when dry_run then created + updated else 0 end")
  )

  const refusalsAfter = Effect.fn("ImportRepo.refusalsAfter")(function*(id: ImportId, row: number, limit: number) {
    return yield* refusedRows.rows(sql)`select ${sql.literal(refusedRows.columns())} from import_refusals
      where organization_id = ${yield* currentOrganization} and import_id = ${id}::uuid and row > ${row}
      order by row limit ${limit}`
  }, Effect.orDie)

  const stalled = Effect.fn("ImportRepo.stalled")(function*(minutes: number, limit: number) {
    return yield* decoding(sql, OpenImport)`select id, organization_id as "organizationId" from imports
      where state in ('queued', 'running') and updated_at < now() - make_interval(mins => ${minutes})
      order by updated_at limit ${limit}`
  }, Effect.orDie)

  return { find, actorOf, list, refusals, refusalsAfter, warnings, changes, stalled }
}

const makeEnds = (sql: SqlClient.SqlClient) => {
  const columns = sql.literal(imports.columns())

  const end = Effect.fn("ImportRepo.end")(
    function*(id: ImportId, state: "failed" | "cancelled", error: string | null) {
      const organization = yield* currentOrganization
      const [before] = yield* imports.rows(sql)`select ${columns} from imports where id = ${id}::uuid
        and organization_id = ${organization} and completed_at is null for no key update`
      if (before === undefined) return undefined
      const [after] = yield* imports.rows(sql)`update imports set state = ${state}, error = ${error},
          updated_at = now(), completed_at = now()
        where id = ${id}::uuid and organization_id = ${organization} returning ${columns}`
      if (after === undefined) return undefined
      yield* sql`delete from import_rows where import_id = ${id}::uuid and organization_id = ${organization}`
      yield* recordImport(sql, state === "failed" ? "imports.fail" : "imports.cancel", after, before)
      return after
    },
    sql.withTransaction,
    Effect.orDie
  )

  const purge = Effect.fn("ImportRepo.purge")(function*(days: number, limit: number) {
    const gone = yield* sql`delete from imports where id = any(array(
        (select id from imports where completed_at < now() - make_interval(days => ${days})
          order by completed_at limit ${limit})
        union all
        (select id from imports where state = 'receiving' and updated_at < now() - interval '1 day'
          order by updated_at limit ${limit})))
      returning 1`
    return gone.length
  }, Effect.orDie)

  return { end, purge }
}

export class ImportRepo extends Context.Service<ImportRepo>()("stoa/domain/import-export/ImportRepo", {
  make: Effect.map(SqlClient.SqlClient, (sql) => ({ ...makeArrival(sql), ...makeReads(sql), ...makeEnds(sql) }))
}) {
  static readonly layer = Layer.effect(ImportRepo, ImportRepo.make)
}
