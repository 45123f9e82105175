import { Effect } from "effect"
import { type SqlClient, Statement } from "effect/sql"
import { currentOrganization } from "../access/Actor.ts"
import type { Table } from "../records/Table.ts"
import { totalOf } from "./ListTotalsRepo.ts"
import { offsetOf, type PageOf, type PageRequest, wholeList } from "./Paging.ts"

/** Who counts the rows of a list: the counters of the table, of all its rows or of those of some values, or an expression. */
export type Counted = "all" | ReadonlyArray<string> | Statement.Fragment

/**
 * A page of the records that the request's organization has in a table, with their total: two statements at once.
 * Without a page the list is complete and takes one statement. `order` is a constant SQL text; `only` narrows the records
 * further. Without `counted` the total reads every record that the page is of.
 */
export const ownPage = Effect.fnUntraced(function*<A extends object>(
  sql: SqlClient.SqlClient,
  table: Table<A>,
  order: string,
  page: PageRequest | undefined,
  only: ReadonlyArray<Statement.Fragment> = [],
  counted?: Counted
) {
  const organization = yield* currentOrganization
  const where = sql.and([sql`organization_id = ${organization}`, ...only])
  const rows = table.rows(sql)`select ${sql.literal(table.columns())} from ${sql(table.name)} where ${where}
    order by ${sql.literal(order)}
    ${page === undefined ? sql.literal("") : sql`limit ${page.limit} offset ${offsetOf(page)}`}`
  if (page === undefined) return wholeList(yield* rows)
  const total = counted === undefined
    ? sql`(select count(*) from ${sql(table.name)} where ${where})`
    : Statement.isFragment(counted)
    ? counted
    : totalOf(sql, organization, table.name, counted === "all" ? undefined : counted)
  const [items, [row]] = yield* Effect.all([rows, sql`select ${total} as total`], { concurrency: "unbounded" })
  return { ...page, items, total: Number(row?.["total"] ?? 0) } satisfies PageOf<A>
})
