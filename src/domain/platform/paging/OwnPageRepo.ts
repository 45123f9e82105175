import { Effect } from "effect"
import { type SqlClient, Statement } from "effect/sql"
import { currentOrganization } from "../access/Actor.ts"
import type { Table } from "../records/Table.ts"
import { nextCursorOf, pageParts } from "./CursorRepo.ts"
import { totalOf } from "./ListTotalsRepo.ts"
import { type PageOf, type PageRequest, wholeList } from "./Paging.ts"

export type Counted = "all" | ReadonlyArray<string> | Statement.Fragment

/**
 * A page of the organization's records with their total; without a page the complete list. Without `counted` the total
 * reads every record. An order by time and id, both falling, has cursors.
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
  const [, time] = /^(\w+) desc, id desc$/.exec(order) ?? []
  const { after, cursor, slice } = pageParts(sql, page, time === undefined ? undefined : { time, id: "id" })
  const read = sql`select ${sql.literal(table.columns())} ${cursor} from ${sql(table.name)}
    where ${sql.and([where, ...after])} order by ${sql.literal(order)} ${slice}`
  if (page === undefined) return wholeList(table.decode(yield* read))
  const total = counted === undefined
    ? sql`(select count(*) from ${sql(table.name)} where ${where})`
    : Statement.isFragment(counted)
    ? counted
    : totalOf(sql, organization, table.name, counted === "all" ? undefined : counted)
  const [rows, [row]] = yield* Effect.all([read, sql`select ${total} as total`], { concurrency: "unbounded" })
  return {
    ...page,
    items: table.decode(rows),
    total: Number(row?.["total"] ?? 0),
    nextCursor: nextCursorOf(rows, page)
  } satisfies PageOf<A>
})
