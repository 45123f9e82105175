import type { SqlClient, Statement } from "effect/sql"
import { isoTime } from "../../../domain/events/ChangeLogRepo.ts"
import type { ColumnKind } from "./Column.ts"
import { columnName, type Table } from "./Table.ts"

/** The kind of any column of a table, the added ones too; undefined for a name that it does not have. */
export const kindOf = (table: Table, name: string): ColumnKind | undefined => {
  if (Object.hasOwn(table.columns, name)) return table.columns[name]?.facts.kind
  if (name === "id") return "uuid"
  if (name === "createdAt") return "timestamptz"
  if (table.kind === "child") return undefined
  return name === "organizationId" ? "text" : name === "updatedAt" ? "timestamptz" : undefined
}

/** All columns of a table in the order in which records show them. */
export const namesOf = (table: Table): ReadonlyArray<string> =>
  table.kind === "organization"
    ? ["id", "organizationId", ...Object.keys(table.columns), "createdAt", "updatedAt"]
    : ["id", ...Object.keys(table.columns), "createdAt"]

/** A column as SQL. A name that the table does not have is a mistake of the plugin's. */
export const columnOf = (table: Table, name: string): string => {
  if (kindOf(table, name) === undefined) throw new Error(`Table "${table.name}" has no column "${name}".`)
  return columnName(name)
}

/** A value of a column as a parameter. */
export const valueSql = (
  sql: SqlClient.SqlClient,
  table: Table,
  name: string,
  value: unknown
): Statement.Fragment => {
  const kind = kindOf(table, name)
  const sent = value === null || value === undefined
    ? null
    : kind === "jsonb"
    ? JSON.stringify(value)
    : value instanceof Date || typeof value === "string" || typeof value === "boolean"
    ? value
    : String(value)
  return sql`${sent}::${sql.literal(kind ?? "text")}`
}

/** A row of the database as code sees it: names in camel case, amounts as numbers. */
export const toRow = (table: Table, row: Readonly<Record<string, unknown>>): unknown =>
  Object.fromEntries(
    namesOf(table).map((name) => {
      const value = row[columnName(name)]
      return [name, typeof value === "bigint" ? Number(value) : value]
    })
  )

/** An SQL text: the row `alias` as JSON, in the form in which the API shows it. */
export const rowJson = (table: Table, alias: string): string => {
  const parts = namesOf(table).map((name) => {
    const column = `${alias}.${columnName(name)}`
    return `'${name}', ${kindOf(table, name) === "timestamptz" ? isoTime(column) : column}`
  })
  // A function takes at most 100 arguments.
  const chunks = Array.from({ length: Math.ceil(parts.length / 50) }, (_, n) => parts.slice(n * 50, n * 50 + 50))
  return chunks.map((chunk) => `jsonb_build_object(${chunk.join(", ")})`).join(" || ")
}

/** How a value is compared. Several tests must all hold. */
export interface Test<A> {
  readonly in?: ReadonlyArray<A>
  readonly not?: A | null
  readonly gt?: A
  readonly gte?: A
  readonly lt?: A
  readonly lte?: A
  /** Finds the text without regard to case. */
  readonly contains?: string
}

const isTest = (value: unknown): value is Test<unknown> =>
  typeof value === "object" && value !== null && !(value instanceof Date)

const comparisons = { gt: ">", gte: ">=", lt: "<", lte: "<=" } as const

const testSql = (sql: SqlClient.SqlClient, table: Table, name: string, test: Test<unknown>) => {
  const column = sql.literal(`t.${columnOf(table, name)}`)
  const value = (of: unknown) => valueSql(sql, table, name, of)
  const parts: Array<Statement.Fragment> = []
  if (test.in !== undefined) {
    const all = test.in.map((one) => (one instanceof Date ? one.toISOString() : String(one)))
    parts.push(sql`${column} = any(${all}::text[]::${sql.literal(kindOf(table, name) ?? "text")}[])`)
  }
  if (test.not !== undefined) parts.push(sql`${column} is distinct from ${value(test.not)}`)
  if (test.contains !== undefined) {
    parts.push(sql`position(lower(${test.contains}::text) in lower(${column}::text)) > 0`)
  }
  for (const key of ["gt", "gte", "lt", "lte"] as const) {
    if (test[key] !== undefined) parts.push(sql`${column} ${sql.literal(comparisons[key])} ${value(test[key])}`)
  }
  return parts
}

/** The conditions of a filter over the rows `t`; a column that is undefined does not filter. */
export const whereSql = (
  sql: SqlClient.SqlClient,
  table: Table,
  where: Readonly<Record<string, unknown>>
): ReadonlyArray<Statement.Fragment> =>
  Object.entries(where).flatMap(([name, value]) => {
    if (value === undefined) return []
    if (isTest(value)) return testSql(sql, table, name, value)
    const column = sql.literal(`t.${columnOf(table, name)}`)
    return value === null ? [sql`${column} is null`] : [sql`${column} = ${valueSql(sql, table, name, value)}`]
  })
