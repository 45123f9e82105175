import { Context, Effect, Layer, String } from "effect"
import { SqlClient } from "effect/sql"
import { CurrentActor, currentOrganization } from "../access/Actor.ts"
import { changeLogInsert } from "../events/ChangeLogRepo.ts"
import { columnsOf, jsonOf } from "../records/Columns.ts"
import type { RowBatch, RowTable } from "./RowBatch.ts"

const listOf = (columns: string): ReadonlyArray<string> => columns.split(", ")

const fieldsOf = ({ columns }: RowTable): Readonly<Record<string, string>> =>
  Object.fromEntries(listOf(columns).map((column) => [String.snakeToCamel(column), column]))

/** A row as JSON: an SQL text over a row of the table. */
export const rowJson = (table: RowTable, row: string): string => jsonOf(fieldsOf(table), row)

const toNumbers = <A extends object>(row: A): A => ({
  ...row,
  ...Object.fromEntries(
    Object.entries(row).flatMap(([field, value]) => typeof value === "bigint" ? [[field, Number(value)]] : [])
  )
})

const make = (sql: SqlClient.SqlClient) => {
  /**
   * The rows whose column has one of the values, locked in the order of their first column until the transaction ends.
   * One statement; none without values.
   */
  const find = Effect.fn("RowBatchRepo.find")(function*<A extends object>(
    table: RowTable,
    column: string,
    values: ReadonlyArray<string>,
    lock?: "update" | "no key update" | "key share"
  ) {
    if (values.length === 0) return []
    const organization = yield* currentOrganization
    // A custom plan each time: a plan made on an empty store would be kept while its catalog grows.
    const rows = yield* sql<A>`select ${sql.literal(columnsOf(fieldsOf(table)))} from ${sql(table.name)}
      where organization_id = ${organization}
        and ${sql.literal(column)} = any(${[...new Set(values)]}::${
      sql.literal(column.endsWith("id") ? "uuid" : "text")
    }[])
      order by 1 ${sql.literal(lock === undefined ? "" : `for ${lock}`)}`.unprepared
    return rows.map(toNumbers)
  }, Effect.orDie)

  const writeOne = Effect.fnUntraced(function*({ changes, puts, removals }: RowBatch) {
    if (puts.size + removals.size + changes.length === 0) return
    const actor = yield* CurrentActor
    const parts = [
      ...[...puts].map(([table, rows]) => put(sql, actor.organizationId, table, rows)),
      ...[...removals].map(([table, rows]) => remove(sql, actor.organizationId, table, rows)),
      sql`entries as (${changeLogInsert(sql, actor, changes)})`
    ]
    // One statement: statement triggers, such as those of the search index, run once for each table and see all rows.
    yield* sql`with ${parts.reduce((all, part) => sql`${all}, ${part}`)} select 1`
  })

  /**
   * Writes all rows and the change log in one statement, two with later rows. Dies if another request wrote the same
   * key first.
   */
  const write = Effect.fn("RowBatchRepo.write")(function*(batch: RowBatch) {
    yield* writeOne(batch)
    if (batch.hasLater) yield* writeOne(batch.later)
  }, Effect.orDie)

  return { find, write }
}

/** Rows `x` with the columns of the table. */
const rowsOf = (sql: SqlClient.SqlClient, table: RowTable, rows: ReadonlyArray<object>) => {
  const fields = Object.entries(fieldsOf(table))
  const named = rows.map((row) =>
    Object.fromEntries(fields.map(([field, column]) => [column, Reflect.get(row, field) ?? null]))
  )
  return sql`jsonb_populate_recordset(null::${sql(table.name)}, ${JSON.stringify(named)}::jsonb) x`
}

const put = (sql: SqlClient.SqlClient, organization: string, table: RowTable, rows: ReadonlyArray<object>) => {
  const { expressions = {}, key, name } = table
  const columns = listOf(table.columns).filter((column) => column !== "organization_id")
  const updates = table.updates ??
    columns.filter((column) => column !== "created_at" && !listOf(key).includes(column))
  const conflict = updates.length === 0
    ? sql.literal("on conflict do nothing")
    : sql`on conflict (${sql.literal(key)}) do update set ${
      sql.literal(updates.map((column) => column.includes("=") ? column : `${column} = excluded.${column}`).join(", "))
    } where t.organization_id = ${organization}`
  return sql`${sql(`put_${name}`)} as (
    insert into ${sql(name)} as t (organization_id, ${sql.literal(columns.join(", "))})
    select ${organization}, ${sql.literal(columns.map((column) => expressions[column] ?? `x.${column}`).join(", "))}
    from ${rowsOf(sql, table, lastOfEach(table, rows))} ${conflict})`
}

/** Two records can address one row, and a statement writes a row only once: the last one counts. */
const lastOfEach = (table: RowTable, rows: ReadonlyArray<object>): ReadonlyArray<object> => {
  const key = listOf(table.key).map(String.snakeToCamel)
  return [...new Map(rows.map((row) => [key.map((field) => `${Reflect.get(row, field)}`).join(" "), row])).values()]
}

const remove = (sql: SqlClient.SqlClient, organization: string, table: RowTable, rows: ReadonlyArray<object>) =>
  sql`${sql(`gone_${table.name}`)} as (delete from ${sql(table.name)} t using ${rowsOf(sql, table, rows)}
    where t.organization_id = ${organization} and ${
    sql.literal(
      listOf(table.key).map((column) =>
        column === table.nullable ? `t.${column} is not distinct from x.${column}` : `t.${column} = x.${column}`
      ).join(" and ")
    )
  })`

/** Reads and writes many rows of any tables at once. */
export class RowBatchRepo extends Context.Service<RowBatchRepo>()("stoa/domain/batching/RowBatchRepo", {
  make: Effect.map(SqlClient.SqlClient, make)
}) {
  static readonly layer = Layer.effect(RowBatchRepo, RowBatchRepo.make)
}
