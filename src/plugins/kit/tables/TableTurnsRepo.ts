import type { SqlClient, Statement } from "effect/sql"
import type { Table } from "./Table.ts"

type Sql = SqlClient.SqlClient

const lockOf = (sql: Sql, table: string, organization: string) =>
  sql`pg_advisory_xact_lock(hashtextextended(${`${table} ${organization}`}, 0))`

/**
 * Waits for the turn of a table with ranges that may not overlap: PostgreSQL writes each row before it looks for others, so
 * two writers at once would wait for each other until one of them is ended as a deadlock.
 */
export const takeTurn = (sql: Sql, { name }: Pick<Table, "name">, organization: string) =>
  sql`select ${lockOf(sql, name, organization)}`

/**
 * A source for a statement that locks rows of the table, or writes columns of it; undefined if no turn is needed. A source is
 * read before the first row is locked: a transaction that holds a row and then waits for the turn would deadlock with one
 * that has the turn and wants the row. A reference locks the row that it names.
 */
export const turnSource = (
  sql: Sql,
  { columns, name, options }: Table,
  organization: string,
  written: ReadonlyArray<string> = []
): Statement.Fragment | undefined => {
  const referred = written.flatMap((column) => columns[column]?.facts.reference ?? []).filter(({ hasTurn }) => hasTurn)
  const own = options.excluding === undefined ? [] : [name]
  const names = [...new Set([...own, ...referred.map(({ table }) => table)])].sort()
  return names.length === 0
    ? undefined
    : sql`(select ${sql.csv(names.map((one) => lockOf(sql, one, organization)))}) turn`
}

/** The same behind the other sources of the statement. */
export const turn = (...args: Parameters<typeof turnSource>): Statement.Fragment => {
  const source = turnSource(...args)
  return source === undefined ? args[0].literal("") : args[0]`, ${source}`
}
