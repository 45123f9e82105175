import type { AnyColumn } from "./Column.ts"
import { columnName, type IndexColumns, type Table } from "./Table.ts"

/** Whose table it is by the database: the organizations that every tenant's rows refer to. */
const organizations = "organizations"

/** One column as `create table` and `add column` say it. */
export const columnSql = (name: string, { facts }: AnyColumn): string =>
  [
    columnName(name),
    facts.kind,
    facts.nullable ? "" : "not null",
    facts.fallback === undefined ? "" : `default ${facts.fallback}`,
    facts.reference === undefined
      ? ""
      : `references ${facts.reference.table} on delete ${facts.reference.onDelete}`,
    checkOf(columnName(name), facts)
  ].filter((part) => part !== "").join(" ")

const checkOf = (column: string, { among, bounds }: AnyColumn["facts"]): string => {
  if (among !== undefined) {
    return `check (${column} in (${among.map((word) => `'${word.replaceAll("'", "''")}'`).join(", ")}))`
  }
  return bounds === undefined ? "" : `check (${column} between ${bounds[0]} and ${bounds[1]})`
}

/** The columns that the library adds, before and after the plugin's own. */
const ownColumns = (kind: Table["kind"]): readonly [ReadonlyArray<string>, ReadonlyArray<string>] =>
  kind === "organization"
    ? [["id uuid primary key default gen_random_uuid()", `organization_id text not null references ${organizations}`], [
      "created_at timestamptz not null default now()",
      "updated_at timestamptz not null default now()"
    ]]
    : [["id uuid primary key default gen_random_uuid()"], ["created_at timestamptz not null default now()"]]

/** The statement that makes the table as it is defined now. */
export const createTable = (table: Table): string => {
  const [before, after] = ownColumns(table.kind)
  const own = Object.entries(table.columns).map(([name, column]) => columnSql(name, column))
  return `create table ${table.name} (${[...before, ...own, ...after].join(", ")})`
}

/** A name that says what it is of, cut to what PostgreSQL keeps. */
const named = (...parts: ReadonlyArray<string>): string => parts.join("_").slice(0, 63)

interface NamedSql {
  readonly name: string
  readonly sql: string
}

const index = (table: Table, { columns, descending, where }: IndexColumns, unique: boolean): NamedSql => {
  const name = named(table.name, ...columns.map(columnName), unique ? "key" : "idx")
  const own = columns.map((column) => `${columnName(column)}${descending === true && !unique ? " desc" : ""}`)
  // Every look-up names the organization first; a child's rows are found by their own columns.
  const all = table.kind === "organization" ? ["organization_id", ...own] : own
  const only = where === undefined ? "" : ` where ${where}`
  return { name, sql: `create ${unique ? "unique " : ""}index ${name} on ${table.name} (${all.join(", ")})${only}` }
}

const uniqueColumn = (table: Table, column: string, { facts }: AnyColumn): ReadonlyArray<NamedSql> => {
  if (facts.uniqueness === undefined) return []
  const name = named(table.name, columnName(column), "key")
  const columns = facts.uniqueness === "global" || table.kind === "child"
    ? columnName(column)
    : `organization_id, ${columnName(column)}`
  return [{ name, sql: `create unique index ${name} on ${table.name} (${columns})` }]
}

/** Whether an index that is there anyway begins with the column. */
const isLed = (table: Table, column: string): boolean =>
  table.kind === "child" &&
  [...table.options.unique ?? [], ...table.options.indexes ?? []].some(({ columns, where }) =>
    columns[0] === column && where === undefined
  )

/** Deleting a row looks for those that refer to it. */
const referring = (table: Table, column: string, { facts }: AnyColumn): ReadonlyArray<NamedSql> => {
  if (facts.reference === undefined || isLed(table, column) || facts.uniqueness === "global") return []
  const name = named(table.name, columnName(column), "fk")
  return [{ name, sql: `create index ${name} on ${table.name} (${columnName(column)})` }]
}

/** The order of lists: newest first, the id where times are the same. */
const listing = (table: Table): ReadonlyArray<NamedSql> =>
  table.kind === "child" ? [] : [{
    name: named(table.name, "listed"),
    sql: `create index ${named(table.name, "listed")} on ${table.name} (organization_id, created_at desc, id desc)`
  }]

/** All indexes of a table, by name. */
export const indexesOf = (table: Table): ReadonlyArray<NamedSql> => [
  ...listing(table),
  ...Object.entries(table.columns).flatMap(([name, column]) => [
    ...uniqueColumn(table, name, column),
    ...referring(table, name, column)
  ]),
  ...(table.options.unique ?? []).map((columns) => index(table, columns, true)),
  ...(table.options.indexes ?? []).map((columns) => index(table, columns, false))
]

/** All named conditions of a table. */
export const checksOf = (table: Table): ReadonlyArray<NamedSql> =>
  Object.entries(table.options.checks ?? {}).map(([key, condition]) => {
    const name = named(table.name, key)
    return { name, sql: `alter table ${table.name} add constraint ${name} check (${condition})` }
  })
