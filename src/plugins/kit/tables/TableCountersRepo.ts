import { Effect, Schema } from "effect"
import { SqlClient, type Statement } from "effect/sql"
import { totalOf } from "../../../domain/platform/paging/ListTotalsRepo.ts"
import { countedBy } from "../../../domain/platform/paging/migrations.ts"
import { decoding } from "../../../domain/platform/records/Rows.ts"
import { sqlType } from "./Column.ts"
import { hasFewValues } from "./Listing.ts"
import { columnName, type Table } from "./Table.ts"
import { columnFacts } from "./TableRowsRepo.ts"
import { digestOf } from "./TableSql.ts"
import { isTest, whereSql } from "./TableWhereRepo.ts"
import type { Values } from "./TableWritesRepo.ts"

/*
 * Rows of a plugin's table are counted by the database as those of the core's are (ADR 23), by the values of the columns that
 * have few of them. `part` is a JSON object of these, so that any filter of such columns is a condition on it.
 */

/** These columns; undefined: no one counts the rows. A child's rows have no organization: the index of their parent counts. */
const countedColumns = (table: Table): ReadonlyArray<string> | undefined => {
  const { columns, kind, lists = [], options } = table
  if (kind === "child" || options.counted === false) return undefined
  const words = Object.keys(columns).filter((name) => {
    const facts = columns[name]?.facts
    return facts?.isList === false && (facts.among !== undefined || facts.kind === "bool")
  })
  const asked = lists.flatMap(({ filters, visible }) => [...filters, ...visible.columns])
  return [...new Set([...words, ...asked.filter((name) => hasFewValues(columnFacts(table, name)))])]
}

/** Whether these columns are all that a filter looks at. */
const looksOnlyAt = (where: Values, columns: ReadonlyArray<string>): boolean =>
  Object.entries(where).every(([name, value]) =>
    name === "or" && Array.isArray(value)
      ? value.every((one) => looksOnlyAt(one, columns))
      : value === undefined || columns.includes(name) || isTest(value) && Object.keys(value).length === 0
  )

/** Columns with their types, as a definition of a record has them. */
const typed = (table: Table, columns: ReadonlyArray<string>): string =>
  columns.flatMap((name) => {
    const facts = table.columns[name]?.facts
    return facts === undefined ? [] : [`${columnName(name)} ${sqlType(facts)}`]
  }).join(", ")

/** How many rows meet a filter, by the counters: an SQL expression; undefined where they do not tell. */
export const countedTotal = (
  sql: SqlClient.SqlClient,
  table: Table,
  organization: string,
  where: Values
): Statement.Fragment | undefined => {
  const columns = countedColumns(table)
  if (columns === undefined || !looksOnlyAt(where, columns)) return undefined
  const conditions = whereSql(sql, table, where)
  const only = conditions.length === 0 ? undefined : sql`exists (select 1
    from jsonb_to_record(part::jsonb) t(${sql.literal(typed(table, columns))}) where ${sql.and(conditions)})`
  return totalOf(sql, organization, table.name, only)
}

/** What the triggers of a table that counts by these columns are called: by other ones it is another counter. */
const triggersOf = (table: Table, columns: ReadonlyArray<string>): string =>
  `rows_${digestOf(`${table.name} ${typed(table, columns)}`)}`

const Trigger = Schema.Struct({ table: Schema.String, counter: Schema.String, name: Schema.String })

const readTriggers = (sql: SqlClient.SqlClient, tables: ReadonlyArray<Table>) =>
  decoding(sql, Trigger)`select c.relname as table, left(t.tgname, 13) as counter, t.tgname as name
    from pg_trigger t join pg_class c on c.oid = t.tgrelid
    where c.relnamespace = current_schema()::regnamespace and c.relname = any(${tables.map(({ name }) => name)}::text[])
      and t.tgname ~ '^rows_[0-9a-f]{8}_counted_'`

/** Drops what counts by columns that the tables no longer say: migrations could not change these. */
export const dropOldCounters = Effect.fnUntraced(function*(tables: ReadonlyArray<Table>) {
  const sql = yield* SqlClient.SqlClient
  const there = yield* readTriggers(sql, tables)
  const wanted = new Map(tables.map((table) => {
    const columns = countedColumns(table)
    return [table.name, columns && triggersOf(table, columns)]
  }))
  for (const { counter, name, table } of there) {
    if (counter !== wanted.get(table)) yield* sql`drop trigger ${sql(name)} on ${sql(table)}`
  }
})

/** Counts the rows of the tables from now on. */
export const addCounters = Effect.fnUntraced(function*(tables: ReadonlyArray<Table>) {
  const sql = yield* SqlClient.SqlClient
  const there = new Set((yield* readTriggers(sql, tables)).map(({ counter }) => counter))
  for (const table of tables) {
    const columns = countedColumns(table)
    const triggers = columns && triggersOf(table, columns)
    if (columns === undefined || triggers === undefined || there.has(triggers)) continue
    const part = (row: string) =>
      `jsonb_build_object(${columns.map(columnName).map((name) => `'${name}', ${row}.${name}`).join(", ")})::text`
    yield* sql`drop function if exists ${sql(`${table.name}_counted`)}, ${sql(`${table.name}_recount`)}`
    for (const statement of countedBy({ table: table.name, part, triggers })) yield* sql.unsafe(statement)
  }
})
