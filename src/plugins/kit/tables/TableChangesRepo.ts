import { Data, Effect, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { decoding } from "../../../domain/platform/records/Rows.ts"
import { type AnyColumn, sqlType } from "./Column.ts"
import { columnName, type Table } from "./Table.ts"
import { checksOf, columnSql, createTable, exclusionsOf, indexesOf, referencesOf } from "./TableSql.ts"

/** A table of the database is not as its plugin says, and adding to it cannot make it so; ends the start. */
export class TableMismatch extends Data.TaggedError("TableMismatch")<{ readonly message: string }> {}

const FoundColumn = Schema.Struct({
  table_name: Schema.String,
  column_name: Schema.String,
  type: Schema.String,
  is_nullable: Schema.Literals(["YES", "NO"])
})
type FoundColumn = typeof FoundColumn.Type

const readColumns = (sql: SqlClient.SqlClient, names: ReadonlyArray<string>) =>
  decoding(sql, FoundColumn)`select table_name, column_name, is_nullable, case
      when data_type = 'ARRAY' then substr(udt_name, 2) || '[]'
      when udt_name = 'numeric' then coalesce('numeric(' || numeric_precision || ', ' || numeric_scale || ')', 'numeric')
      else udt_name end as type from information_schema.columns
    where table_schema = current_schema() and table_name = any(${names}::text[])`

const byTable = (rows: ReadonlyArray<FoundColumn>) => {
  const found = new Map<string, Map<string, FoundColumn>>()
  for (const row of rows) {
    const columns = found.get(row.table_name) ?? new Map<string, FoundColumn>()
    found.set(row.table_name, columns.set(row.column_name, row))
  }
  return found
}

const TableOwner = Schema.Struct({ name: Schema.String, plugin: Schema.NullOr(Schema.String) })

/** Rows that are there already have no value for it. */
const needsValue = ({ facts }: AnyColumn): boolean => !facts.nullable && facts.fallback === undefined

/** Any fixed number: processes that start together change tables one after the other (the lock of migrations). */
const migrationLock = 4_821_007

/**
 * Notes whose tables they are. A table that the core or another plugin has is not added to: that ends the start and names
 * both. Holds the lock of migrations until the caller's transaction ends.
 */
export const claimTables = Effect.fnUntraced(function*(plugin: string, tables: ReadonlyArray<Table>) {
  const sql = yield* SqlClient.SqlClient
  yield* sql`select pg_advisory_xact_lock(${migrationLock})`
  const names = tables.map(({ name }) => name)
  const [taken] = yield* decoding(sql, TableOwner)`select c.relname as name, p.plugin
    from pg_class c left join plugin_tables p on p.name = c.relname
    where c.relnamespace = current_schema()::regnamespace and c.relname = any(${names}::text[])
      and p.plugin is distinct from ${plugin} order by c.relname limit 1`
  if (taken !== undefined) {
    const owner = taken.plugin === null ? "the core" : `plugin "${taken.plugin}"`
    return yield* new TableMismatch({ message: `The table "${taken.name}" of plugin "${plugin}" belongs to ${owner}.` })
  }
  yield* sql`insert into plugin_tables (name, plugin) select unnest(${names}::text[]), ${plugin} on conflict do nothing`
})

const isEmpty = (sql: SqlClient.SqlClient, name: string) =>
  Effect.map(sql`select 1 from ${sql(name)} limit 1`, (rows) => rows.length === 0)

/**
 * Adds what the definitions of a plugin's tables have and the database has not: tables, columns, indexes and conditions.
 * Nothing is taken away or changed: that is for the plugin's numbered migrations, which run after this. Tables come in the
 * order in which they refer to one another.
 */
export const addMissing = Effect.fnUntraced(function*(plugin: string, tables: ReadonlyArray<Table>) {
  const sql = yield* SqlClient.SqlClient
  const found = byTable(yield* readColumns(sql, tables.map(({ name }) => name)))
  for (const table of tables) {
    const columns = found.get(table.name)
    if (columns === undefined) {
      yield* sql.unsafe(createTable(table))
      continue
    }
    for (const [name, column] of Object.entries(table.columns)) {
      if (columns.has(columnName(name))) continue
      if (needsValue(column) && !(yield* isEmpty(sql, table.name))) {
        return yield* new TableMismatch({
          message:
            `Plugin "${plugin}": column "${name}" of ${table.name} is new and rows that are there have no value ` +
            `for it. Make it nullable or give it a default.`
        })
      }
      yield* sql.unsafe(`alter table ${table.name} add column ${columnSql(name, column)}`)
    }
  }
  yield* addNamed(sql, plugin, tables)
})

const FoundName = Schema.Struct({ name: Schema.String, hasCondition: Schema.Boolean })

/**
 * Gives an index with a condition its name of today, or drops it where several stand in its place: without this its former
 * name would hide an index of the same columns.
 */
const renameIndexes = Effect.fnUntraced(
  function*(sql: SqlClient.SqlClient, table: Table, names: Map<string, boolean>) {
    const byFormer = Map.groupBy(indexesOf(table), ({ formerName }) => formerName)
    for (const [former, all] of byFormer) {
      if (former === undefined || names.get(former) !== true) continue
      names.delete(former)
      const [first] = all
      if (first === undefined || all.length > 1 || names.has(first.name)) yield* sql`drop index ${sql(former)}`
      else {
        yield* sql`alter index ${sql(former)} rename to ${sql(first.name)}`
        names.set(first.name, true)
      }
    }
  }
)

const addNamed = Effect.fnUntraced(function*(
  sql: SqlClient.SqlClient,
  plugin: string,
  tables: ReadonlyArray<Table>
) {
  // The key that references use may be there already, on tables of other plugins too.
  const indexed = tables.flatMap(({ columns, name }) => [
    name,
    ...Object.values(columns).flatMap(({ facts }) => facts.reference?.table ?? [])
  ])
  const there = yield* decoding(sql, FoundName)`select i.relname as name, x.indpred is not null as "hasCondition"
      from pg_index x join pg_class i on i.oid = x.indexrelid where x.indrelid = any(
      select c.oid from pg_class c where c.relnamespace = current_schema()::regnamespace
        and c.relname = any(${indexed}::text[]))
    union all select conname, false from pg_constraint where conrelid = any(
      select c.oid from pg_class c where c.relnamespace = current_schema()::regnamespace
        and c.relname = any(${tables.map(({ name }) => name)}::text[]))`
  const names = new Map(there.map(({ hasCondition, name }) => [name, hasCondition]))
  for (const table of tables) {
    yield* renameIndexes(sql, table, names)
    const checks = checksOf(table)
    const older = checks.flatMap(({ name, stem }) =>
      [...names.keys()].filter((one) => one !== name && one.slice(0, -9) === stem && /_[0-9a-f]{8}$/.test(one))
    )
    for (const name of older) yield* sql`alter table ${sql(table.name)} drop constraint ${sql(name)}`
    const exclusions = exclusionsOf(table)
    if (exclusions.length > 0) yield* sql`create extension if not exists btree_gist`
    const made = new Map<string, string>()
    for (const one of [...indexesOf(table), ...exclusions, ...checks, ...referencesOf(table)]) {
      if ((made.get(one.name) ?? one.sql) !== one.sql) {
        const message = `Plugin "${plugin}": the table "${table.name}" says "${one.name}" twice, with another order.`
        return yield* new TableMismatch({ message })
      }
      made.set(one.name, one.sql)
      if (names.has(one.name)) continue
      names.set(one.name, false)
      yield* sql.unsafe(one.sql)
    }
  }
})

/**
 * Looks whether the tables are as they are defined, once everything has been added and all migrations have run; says of
 * the first column that is not what a migration has to do.
 */
export const checkTables = Effect.fnUntraced(function*(plugin: string, tables: ReadonlyArray<Table>) {
  const sql = yield* SqlClient.SqlClient
  const found = byTable(yield* readColumns(sql, tables.map(({ name }) => name)))
  for (const table of tables) {
    for (const [name, { facts }] of Object.entries(table.columns)) {
      const column = found.get(table.name)?.get(columnName(name))
      const wrong = column === undefined
        ? "is missing"
        : column.type !== sqlType(facts)
        ? `is ${column.type} and not ${sqlType(facts)}`
        : (column.is_nullable === "YES") !== facts.nullable
        ? facts.nullable ? "must not be null" : "may be null"
        : undefined
      if (wrong !== undefined) {
        return yield* new TableMismatch({
          message: `Plugin "${plugin}": column "${name}" of ${table.name} ${wrong} in the database. ` +
            `Adding cannot change that: give the plugin a numbered migration.`
        })
      }
    }
  }
})
