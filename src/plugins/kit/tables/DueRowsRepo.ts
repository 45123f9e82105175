import { Effect, Schema } from "effect"
import type { SqlClient } from "effect/sql"
import { rowsOf } from "./StatementRepo.ts"
import { columnName, type RowOf, type Table } from "./Table.ts"
import { rowReader } from "./TableRowsRepo.ts"
import { turn } from "./TableTurnsRepo.ts"
import { whereSql } from "./TableWhereRepo.ts"

/** Where a row is, of whichever organization. */
const Place = Schema.Struct({ id: Schema.String, organizationId: Schema.String })
export type Place = typeof Place.Type

export const places = rowsOf(Place)

/** What tells the organization of rows `t`. */
export const parentOf = (sql: SqlClient.SqlClient, { parent }: Table) =>
  parent === undefined
    ? { join: sql.literal(""), organization: sql.literal("t.organization_id") }
    : {
      join: sql`join ${sql(parent.table.name)} p on p.id = t.${sql.literal(columnName(parent.column))}`,
      organization: sql.literal("p.organization_id")
    }

/** Ids of rows of all organizations that meet the filter, after this one in the order of the ids. */
export const placesAfter = (
  sql: SqlClient.SqlClient,
  table: Table,
  where: Readonly<Record<string, unknown>>,
  after: string,
  limit: number
): Effect.Effect<ReadonlyArray<Place>> => {
  const { join, organization } = parentOf(sql, table)
  return Effect.orDie(places(sql`select t.id, ${organization} as "organizationId" from ${sql(table.name)} t ${join}
    where ${sql.and([sql`t.id > ${after}::uuid`, ...whereSql(sql, table, where)])} order by t.id limit ${limit}`))
}

/** Locks the row until the caller's transaction ends; undefined when it no longer meets the filter or another one has it. */
export const lockDue = <T extends Table>(
  sql: SqlClient.SqlClient,
  table: T,
  where: Readonly<Record<string, unknown>>,
  { id, organizationId }: Place
): Effect.Effect<RowOf<T> | undefined> =>
  sql`select t.* from ${sql(table.name)} t${turn(sql, table, organizationId)}
    where ${sql.and([sql`t.id = ${id}::uuid`, ...whereSql(sql, table, where)])} for update of t skip locked`.pipe(
    // A row of the table is what its columns say.
    Effect.map(([row]) => row === undefined ? undefined : rowReader(table)(row) as RowOf<T>),
    Effect.orDie
  )
