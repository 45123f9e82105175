import { Effect, Exit } from "effect"
import type { SqlClient, Statement } from "effect/sql"
import type { Columns, RowOf, Table } from "../tables/Table.ts"
import { columnFacts, columnOf } from "../tables/TableRowsRepo.ts"
import { type Where, whereSql } from "../tables/TableWhereRepo.ts"

/** Rows about an event, made by `rowIn`. */
export interface RowIn {
  readonly table: Table<Columns, "organization">
  readonly column: string | undefined
  readonly equals: "entityId" | "type"
  readonly where: Readonly<Record<string, unknown>>
}

/**
 * When a subscription is concerned by an event; all parts must hold. The database decides it when the event gets its
 * sequence: a row that is there by then counts, one that comes later does not bring the event back.
 */
export interface EventCondition {
  /** One of these tables has a row about the event. */
  readonly rowsIn?: readonly [RowIn, ...ReadonlyArray<RowIn>]
  /** A jsonpath that finds something in the event's record: `$.status ? (@ == "fulfilled")`. */
  readonly record?: string
}

/**
 * Rows of a table, of the event's organization: all that meet `where`, or only those whose `column` has the id of the event's
 * record (`equals: "type"`: the event's name).
 */
export const rowIn = <T extends Table<Columns, "organization">>(
  table: T,
  { column, equals = "entityId", where = {} }: {
    readonly column?: keyof RowOf<T> & string
    readonly equals?: RowIn["equals"]
    readonly where?: Where<T>
  } = {}
): RowIn => {
  if (column !== undefined) columnFacts(table, column)
  return { table, column, equals, where: { ...where } }
}

const uuidForm = "^[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}$"

/** Compares a column with a text of the event `e`. Ids of other kinds are in no column of ids. */
const aboutEvent = (sql: SqlClient.SqlClient, { column, equals, table }: RowIn): ReadonlyArray<Statement.Fragment> => {
  if (column === undefined) return []
  const value = equals === "type" ? "e.type" : "e.entity_id"
  const isId = columnFacts(table, column).kind === "uuid"
  const compared = isId ? `case when ${value} ~ '${uuidForm}' then ${value}::uuid end` : value
  return [sql.literal(`t.${columnOf(table, column)} = ${compared}`)]
}

// A scalar subquery: on a young table the planner would scan it for a join.
const hasRow = (sql: SqlClient.SqlClient, row: RowIn): Statement.Fragment =>
  sql`coalesce((select true from ${sql(row.table.name)} t where ${
    sql.and([
      sql`t.organization_id = e.organization_id`,
      ...aboutEvent(sql, row),
      ...whereSql(sql, row.table, row.where)
    ])
  } limit 1), false)`

/** The condition over the entry `e` of the change log; null when a jsonpath cannot be evaluated on the record. */
export const conditionSql = (
  sql: SqlClient.SqlClient,
  { record, rowsIn }: EventCondition
): Statement.Fragment =>
  sql.and([
    ...(record === undefined ? [] : [sql`e.payload @? ${record}::text::jsonpath`]),
    ...(rowsIn === undefined ? [] : [sql.or(rowsIn.map((row) => hasRow(sql, row)))])
  ])

/** Whether the text is a jsonpath. */
export const isPath = (sql: SqlClient.SqlClient, text: string): Effect.Effect<boolean> =>
  Effect.map(Effect.exit(sql`select ${text}::text::jsonpath`), Exit.isSuccess)
