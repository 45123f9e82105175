import type { SqlClient } from "effect/sql"
import { offsetOf, type PageRequest } from "./Paging.ts"

/** Columns of time and tie-breaking id of a list, newest first, as SQL. */
interface NewestFirst {
  readonly time: string
  readonly id: string
}

/** Parts of a statement that reads a page. Rows after a cursor are one range of an index on time and id, at any depth. */
export const pageParts = (sql: SqlClient.SqlClient, page: PageRequest | undefined, list: NewestFirst | undefined) => {
  const cursor = list === undefined ? undefined : page?.cursor
  return {
    // The driver would cut a time to milliseconds.
    cursor: sql.literal(
      list === undefined || page === undefined
        ? ""
        : `, to_char(${list.time} at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') || '_' || ${list.id} as cursor`
    ),
    after: list === undefined || cursor === undefined
      ? []
      : [sql`(${sql.literal(`${list.time}, ${list.id}`)}) < (${cursor.at}::timestamptz, ${cursor.id}::uuid)`],
    slice: page === undefined ? sql.literal("") : sql`limit ${page.limit} offset ${offsetOf(page)}`
  }
}

/** Cursor of the next page; none after a page that is not full. */
export const nextCursorOf = (
  rows: ReadonlyArray<{ readonly cursor?: unknown }>,
  { limit }: PageRequest
): string | undefined => {
  const last = rows[limit - 1]?.cursor
  return typeof last === "string" ? last : undefined
}
