import { Effect } from "effect"
import type { SqlClient, Statement } from "effect/sql"
import { currentOrganization } from "../access/Actor.ts"
import type { Table } from "../records/Table.ts"
import { offsetOf, type PageOf, type PageRequest, wholeList } from "./Paging.ts"

/**
 * A page of the records that the request's organization has in a table, with their total: two statements at once.
 * Without a page the list is complete and takes one statement. `order` is a constant SQL text; `only` narrows the records
 * further.
 */
export const ownPage = Effect.fnUntraced(function*<A extends object>(
  sql: SqlClient.SqlClient,
  table: Table<A>,
  order: string,
  page: PageRequest | undefined,
  only: ReadonlyArray<Statement.Fragment> = []
) {
  const where = sql.and([sql`organization_id = ${yield* currentOrganization}`, ...only])
  const rows = table.rows(sql)`select ${sql.literal(table.columns())} from ${sql(table.name)} where ${where}
    order by ${sql.literal(order)}
    ${page === undefined ? sql.literal("") : sql`limit ${page.limit} offset ${offsetOf(page)}`}`
  if (page === undefined) return wholeList(yield* rows)
  const count = sql`select count(*) as count from ${sql(table.name)} where ${where}`
  const [items, counted] = yield* Effect.all([rows, count], { concurrency: "unbounded" })
  return { ...page, items, total: Number(counted[0]?.["count"] ?? 0) } satisfies PageOf<A>
})
