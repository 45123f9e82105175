import type { SqlClient, Statement } from "effect/sql"
import type { RowOf, Table } from "./Table.ts"
import { columnFacts, columnOf, valueSql } from "./TableRowsRepo.ts"

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

/** How a list is compared. */
export interface ListTest<A> {
  /** Has this entry. */
  readonly has?: A
}

type TestOf<A> = [A] extends [ReadonlyArray<infer Entry>] ? ListTest<Entry> : Test<A>

/** Which rows: a value, null, or a test for each column that is named. With `or` they meet one of several filters, too. */
export type Where<T> =
  & { readonly [K in keyof RowOf<T>]?: RowOf<T>[K] | TestOf<NonNullable<RowOf<T>[K]>> | null | undefined }
  & { readonly or?: ReadonlyArray<Where<T>> | undefined }

/** Which row: the one of this id, or the one of this id that meets more; one that does not is not there for the caller. */
export type Which<T> = string | (Where<T> & { readonly id: string })

const words = new Set(["in", "not", "gt", "gte", "lt", "lte", "contains", "has"])

/** An object with words of tests alone, or none; any other one is a value of a JSON column. */
export const isTest = (value: unknown): value is Test<unknown> & ListTest<unknown> =>
  typeof value === "object" && value !== null && !(value instanceof Date) && !Array.isArray(value) &&
  Object.keys(value).every((key) => words.has(key))

const comparisons = { gt: ">", gte: ">=", lt: "<", lte: "<=" } as const

const testSql = (
  sql: SqlClient.SqlClient,
  table: Table,
  name: string,
  test: Test<unknown> & ListTest<unknown>,
  alias: string
) => {
  const column = sql.literal(`${alias}.${columnOf(table, name)}`)
  const kind = sql.literal(columnFacts(table, name).kind)
  const value = (of: unknown) => valueSql(sql, table, name, of)
  const parts: Array<Statement.Fragment> = []
  if (test.has !== undefined) parts.push(sql`${String(test.has)}::text::${kind} = any(${column})`)
  // One value is no list: rows that are equal in a column come in the order of the rest of its index.
  if (test.in?.length === 1) parts.push(sql`${column} = ${value(test.in[0])}`)
  else if (test.in !== undefined) {
    const all = test.in.map((one) => (one instanceof Date ? one.toISOString() : String(one)))
    parts.push(sql`${column} = any(${all}::text[]::${kind}[])`)
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

/** One of these filters; without any no row meets it. */
const anySql = (
  sql: SqlClient.SqlClient,
  table: Table,
  filters: ReadonlyArray<Readonly<Record<string, unknown>>>,
  alias: string
): Statement.Fragment =>
  filters.length === 0 ? sql`false` : sql.or(filters.map((one) => {
    const all = whereSql(sql, table, one, alias)
    return all.length === 0 ? sql`true` : sql.and(all)
  }))

/** The conditions of a filter over the rows `alias`; a column that is undefined does not filter. */
export const whereSql = (
  sql: SqlClient.SqlClient,
  table: Table,
  where: Readonly<Record<string, unknown>>,
  alias = "t"
): ReadonlyArray<Statement.Fragment> =>
  Object.entries(where).flatMap(([name, value]) => {
    if (value === undefined) return []
    if (name === "or" && Array.isArray(value)) return [anySql(sql, table, value, alias)]
    if (columnFacts(table, name).isSecret) {
      throw new Error(`Table "${table.name}": nothing is found by its secret "${name}".`)
    }
    if (isTest(value)) return testSql(sql, table, name, value, alias)
    const column = sql.literal(`${alias}.${columnOf(table, name)}`)
    return value === null ? [sql`${column} is null`] : [sql`${column} = ${valueSql(sql, table, name, value)}`]
  })
