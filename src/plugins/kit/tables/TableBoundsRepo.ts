import { Effect } from "effect"
import type { SqlClient, SqlError, Statement } from "effect/sql"
import type { RowBound } from "./RowBounds.ts"
import type { Table } from "./Table.ts"
import { columnOf, valueFromJson } from "./TableRowsRepo.ts"

type Sql = SqlClient.SqlClient
type Rows = ReadonlyArray<Readonly<Record<string, unknown>>>

/**
 * Runs an insert while no other one adds rows of the same values. The locks come in one order, in a statement of their own:
 * the insert sees what those before it have written.
 */
export const inTurnOf = <A>(
  sql: Sql,
  { name }: Table,
  bounds: ReadonlyArray<RowBound>,
  organization: string,
  rows: Rows,
  insert: Effect.Effect<A, SqlError.SqlError>
): Effect.Effect<A, SqlError.SqlError> => {
  if (bounds.length === 0) return insert
  const keys = bounds.flatMap(({ per }) => rows.map((row) => `${name} ${per} ${organization} ${String(row[per])}`))
  const lock = sql`select pg_advisory_xact_lock(hashtextextended(k, 0))
    from (select distinct k from unnest(${keys}::text[]) k order by k) keys`
  return sql.withTransaction(Effect.andThen(lock, insert))
}

/** Whether the rows of an insert (`input`, each as `o`) fit beside those that are there; a value that is null has no bound. */
export const fits = (
  sql: Sql,
  table: Table,
  bounds: ReadonlyArray<RowBound>,
  organization: string
): Statement.Fragment =>
  sql.and(bounds.map(({ per, rows, where = "true" }) => {
    const [column, value] = [columnOf(table, per), valueFromJson(table, per)]
    return sql`not exists (select 1 from (
        select ${sql.literal(value)} as owner, count(*) as added from input group by 1) i
      where i.owner is not null and i.added + (select count(*) from (
        select 1 from ${sql(table.name)} t where t.organization_id = ${organization}
          and t.${sql.literal(column)} = i.owner and (${
      sql.literal(where)
    }) limit ${rows}::int) counted) > ${rows}::int)`
  }))
