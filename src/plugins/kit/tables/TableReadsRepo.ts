import { Effect } from "effect"
import type { SqlClient, Statement } from "effect/sql"
import { CurrentActor } from "../../../domain/platform/access/Actor.ts"
import { nextCursorOf, pageParts } from "../../../domain/platform/paging/CursorRepo.ts"
import type { PageOf, PageRequest } from "../../../domain/platform/paging/Paging.ts"
import type { Listing } from "./Listing.ts"
import type { RowOf, Table } from "./Table.ts"
import { countedTotal } from "./TableCountersRepo.ts"
import { RowNotFound } from "./TableHandle.ts"
import { columnOf } from "./TableRowsRepo.ts"
import { turn } from "./TableTurnsRepo.ts"
import { whereSql } from "./TableWhereRepo.ts"
import { type Context, own, type Values } from "./TableWritesRepo.ts"

const orderSql = (sql: SqlClient.SqlClient, table: Table, order: ReadonlyArray<string>): Statement.Fragment => {
  const given = order.map((name) =>
    name.startsWith("-") ? `t.${columnOf(table, name.slice(1))} desc` : `t.${columnOf(table, name)}`
  )
  // The id makes the order total: two pages never show the same row.
  return sql.literal([...given, given[0]?.endsWith(" desc") === false ? "t.id" : "t.id desc"].join(", "))
}

const newest = ["-createdAt"]

interface ListOptions {
  readonly order?: ReadonlyArray<string>
  readonly limit?: number
  readonly lock?: boolean
}

/** The conditions of `Which`. */
export const whichOf = (which: string | object): Values => typeof which === "string" ? { id: which } : { ...which }

/** Reads of a table. */
export const readsOf = <T extends Table>(
  { sql, table }: Context,
  toRow: (row: Values) => RowOf<T>,
  lists: ReadonlyArray<Listing> = []
) => {
  const read = Effect.fnUntraced(function*(
    where: object,
    order: ReadonlyArray<string>,
    { after, cursor, slice }: ReturnType<typeof pageParts>,
    lock = false
  ) {
    const { organizationId } = yield* CurrentActor
    const all = sql.and([own(sql, table, organizationId), ...whereSql(sql, table, { ...where }), ...after])
    const [first, last] = lock
      ? [turn(sql, table, organizationId), sql.literal("for update of t")]
      : [sql.literal(""), sql.literal("")]
    return yield* sql`select t.* ${cursor} from ${sql(table.name)} t${first} where ${all}
      order by ${orderSql(sql, table, order)} ${slice} ${last}`
  }, Effect.orDie)

  const select = (where: object, order: ReadonlyArray<string>, slice: Statement.Fragment, lock = false) =>
    Effect.map(
      read(where, order, { ...pageParts(sql, undefined, undefined), slice }, lock),
      (rows) => rows.map(toRow)
    )

  const count = Effect.fnUntraced(function*(where: object) {
    const { organizationId } = yield* CurrentActor
    const all = sql.and([own(sql, table, organizationId), ...whereSql(sql, table, { ...where })])
    const total = countedTotal(sql, { ...table, lists }, organizationId, { ...where }) ??
      sql`(select count(*) from ${sql(table.name)} t where ${all})`
    const [row] = yield* sql`select ${total} as total`
    return Number(row?.["total"] ?? 0)
  }, Effect.orDie)

  const one = (which: string | object, lock = false) =>
    Effect.map(select(whichOf(which), newest, sql.literal(""), lock), ([row]) => row)
  const found = (row: RowOf<T> | undefined) => row === undefined ? Effect.fail(new RowNotFound()) : Effect.succeed(row)
  const page = Effect.fnUntraced(function*(where: object, page: PageRequest, order: ReadonlyArray<string> = newest) {
    const isNewestFirst = order.length === 1 && order[0] === newest[0]
    const parts = pageParts(sql, page, isNewestFirst ? { time: "t.created_at", id: "t.id" } : undefined)
    const [rows, total] = yield* Effect.all([read(where, order, parts), count(where)], { concurrency: "unbounded" })
    return {
      ...page,
      items: rows.map(toRow),
      total,
      nextCursor: nextCursorOf(rows, page)
    } satisfies PageOf<RowOf<T>>
  })
  return {
    find: (which: string | object) => one(which),
    get: (which: string | object) => Effect.flatMap(one(which), found),
    lock: (which: string | object) => Effect.flatMap(one(which, true), found),
    first: (where: object, order: ReadonlyArray<string> = newest) =>
      Effect.map(select(where, order, sql`limit 1`), ([row]) => row),
    list: (where: object, { limit, lock = false, order = newest }: ListOptions = {}) =>
      select(where, order, limit === undefined ? sql.literal("") : sql`limit ${limit}`, lock),
    page,
    count
  }
}
