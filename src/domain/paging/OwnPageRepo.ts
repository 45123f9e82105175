import { Effect } from "effect"
import type { SqlClient, Statement } from "effect/sql"
import { currentOrganization } from "../access/Actor.ts"
import { offsetOf, type PageOf, type PageRequest, wholeList } from "./Paging.ts"

/** Source of a list's records: three constant SQL fragments of the repository. */
export interface ListSource {
  readonly table: string
  readonly columns: string
  readonly order: string
}

/**
 * A page of the rows that the request's organization has in a table, with their total: two statements at once. Without a
 * page the list is complete and takes one statement. `only` narrows the rows further.
 */
export const ownPage = Effect.fnUntraced(function*<A extends object>(
  sql: SqlClient.SqlClient,
  { columns, order, table }: ListSource,
  page: PageRequest | undefined,
  only: ReadonlyArray<Statement.Fragment> = []
) {
  const where = sql.and([sql`organization_id = ${yield* currentOrganization}`, ...only])
  const rows = sql<A>`select ${sql.literal(columns)} from ${sql(table)} where ${where} order by ${sql.literal(order)}
    ${page === undefined ? sql.literal("") : sql`limit ${page.limit} offset ${offsetOf(page)}`}`
  if (page === undefined) return wholeList(yield* rows)
  const count = sql<{ readonly count: bigint }>`select count(*) as count from ${sql(table)} where ${where}`
  const [items, counted] = yield* Effect.all([rows, count], { concurrency: "unbounded" })
  return { ...page, items, total: Number(counted[0]?.count ?? 0) } satisfies PageOf<A>
})
