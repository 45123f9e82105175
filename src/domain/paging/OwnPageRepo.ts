import { Effect } from "effect"
import type { SqlClient, Statement } from "effect/sql"
import { currentOrganization } from "../access/Actor.ts"
import { offsetOf, type PageOf, type PageRequest } from "./Paging.ts"

/** Which rows of the organization's make a list, and in which order; both are SQL of the repository itself. */
export interface OwnRows<Row, A> {
  readonly table: string
  readonly order: string
  readonly toRecord: (row: Row) => A
}

/**
 * A page of the rows that a table has of the organization of the request, and how many there are in all: two statements
 * at once. `only` narrows them further.
 */
export const ownPage = Effect.fnUntraced(function*<Row extends object, A>(
  sql: SqlClient.SqlClient,
  { order, table, toRecord }: OwnRows<Row, A>,
  page: PageRequest,
  only: ReadonlyArray<Statement.Fragment> = []
) {
  const where = sql.and([sql`organization_id = ${yield* currentOrganization}`, ...only])
  const [rows, counted] = yield* Effect.all([
    sql<Row>`select * from ${sql(table)} where ${where} order by ${sql.literal(order)}
      limit ${page.limit} offset ${offsetOf(page)}`,
    sql<{ readonly count: bigint }>`select count(*) as count from ${sql(table)} where ${where}`
  ], { concurrency: "unbounded" })
  const found: PageOf<A> = { ...page, items: rows.map(toRecord), total: Number(counted[0]?.count ?? 0) }
  return found
})
