import { Context, Effect, Layer, String } from "effect"
import { SqlClient } from "effect/sql"
import { CurrentActor, currentOrganization } from "../access/Actor.ts"
import { changeLogInsert } from "../events/ChangeLogRepo.ts"
import type { Table } from "../records/Table.ts"
import { type RowBatch, type RowRules, RowTable } from "./RowBatch.ts"

const listOf = (columns: string): ReadonlyArray<string> => columns.split(", ")

const rulesOf = (table: Table<object>): RowRules => table instanceof RowTable ? table.rules : { key: "id" }

const make = (sql: SqlClient.SqlClient) => {
  /** Locks the rows in the order of their first column until the transaction ends. */
  const find = Effect.fn("RowBatchRepo.find")(function*<A extends object>(
    table: Table<A>,
    column: string,
    values: ReadonlyArray<string>,
    lock?: "update" | "no key update" | "key share"
  ) {
    if (values.length === 0) return []
    const organization = yield* currentOrganization
    const type = sql.literal(column.endsWith("id") ? "uuid" : "text")
    // A plan made on an empty store would be kept while its catalog grows.
    return yield* table.rows(sql, "unprepared")`select ${sql.literal(table.columns())} from ${sql(table.name)}
      where organization_id = ${organization}
        and ${sql.literal(column)} = any(${[...new Set(values)]}::${type}[])
      order by 1 ${sql.literal(lock === undefined ? "" : `for ${lock}`)}`
  }, Effect.orDie)

  const writeOne = Effect.fnUntraced(function*({ changes, puts, removals }: RowBatch) {
    if (puts.size + removals.size + changes.length === 0) return
    const actor = yield* CurrentActor
    const parts = [
      ...[...puts].map(([table, rows]) => put(sql, actor.organizationId, table, rows)),
      ...[...removals].map(([table, rows]) => remove(sql, actor.organizationId, table, rows)),
      sql`entries as (${changeLogInsert(sql, actor, changes)})`
    ]
    // One statement: statement triggers run once per table and see all rows.
    yield* sql`with ${parts.reduce((all, part) => sql`${all}, ${part}`)} select 1`
  })

  /**
   * Writes rows and change log in one statement, two with later rows. Dies if another request wrote the same key first.
   */
  const write = Effect.fn("RowBatchRepo.write")(function*(batch: RowBatch) {
    yield* writeOne(batch)
    if (batch.hasLater) yield* writeOne(batch.later)
  }, Effect.orDie)

  return { find, write }
}

const rowsOf = (sql: SqlClient.SqlClient, table: Table<object>, rows: ReadonlyArray<object>) => {
  const fields = Object.keys(table.schema.fields)
  const named = rows.map((row) =>
    Object.fromEntries(fields.map((field) => [String.camelToSnake(field), Reflect.get(row, field) ?? null]))
  )
  return sql`jsonb_populate_recordset(null::${sql(table.name)}, ${JSON.stringify(named)}::jsonb) x`
}

const put = (sql: SqlClient.SqlClient, organization: string, table: Table<object>, rows: ReadonlyArray<object>) => {
  const { expressions = {}, key, updates } = rulesOf(table)
  const columns = listOf(table.names).filter((column) => column !== "organization_id")
  const replaced = columns.filter((column) => column !== "created_at" && !listOf(key).includes(column))
  const sets = updates ?? replaced.map((column) => `${column} = excluded.${column}`).join(", ")
  const conflict = sets === ""
    ? sql.literal("on conflict do nothing")
    : sql`on conflict (${sql.literal(key)}) do update set ${
      sql.literal(sets)
    } where t.organization_id = ${organization}`
  return sql`${sql(`put_${table.name}`)} as (
    insert into ${sql(table.name)} as t (organization_id, ${sql.literal(columns.join(", "))})
    select ${organization}, ${sql.literal(columns.map((column) => expressions[column] ?? `x.${column}`).join(", "))}
    from ${rowsOf(sql, table, lastOfEach(key, rows))} ${conflict})`
}

/** A statement may write a row only once: the last record counts. */
const lastOfEach = (key: string, rows: ReadonlyArray<object>): ReadonlyArray<object> => {
  const fields = listOf(key).map(String.snakeToCamel)
  return [...new Map(rows.map((row) => [fields.map((field) => `${Reflect.get(row, field)}`).join(" "), row])).values()]
}

const remove = (sql: SqlClient.SqlClient, organization: string, table: Table<object>, rows: ReadonlyArray<object>) => {
  const { key, nullable } = rulesOf(table)
  const isSame = listOf(key).map((column) =>
    column === nullable ? `t.${column} is not distinct from x.${column}` : `t.${column} = x.${column}`
  )
  return sql`${sql(`gone_${table.name}`)} as (delete from ${sql(table.name)} t using ${rowsOf(sql, table, rows)}
    where t.organization_id = ${organization} and ${sql.literal(isSame.join(" and "))})`
}

export class RowBatchRepo extends Context.Service<RowBatchRepo>()("stoa/domain/platform/batching/RowBatchRepo", {
  make: Effect.map(SqlClient.SqlClient, make)
}) {
  static readonly layer = Layer.effect(RowBatchRepo, RowBatchRepo.make)
}
