import { Effect } from "effect"
import type { SqlClient, Statement } from "effect/sql"
import { type Actor, CurrentActor } from "../../../domain/access/Actor.ts"
import type { Conflict, NotFound, ValidationFailed } from "../../../domain/errors/ApiErrors.ts"
import { conflict, invalid, notFound } from "../../../domain/errors/ErrorKinds.ts"
import { changeLogRows } from "../../../domain/events/ChangeLogRepo.ts"
import { idempotencyRecord } from "../../../domain/idempotency/IdempotencyRecordRepo.ts"
import { newId } from "../../../domain/ids/Id.ts"
import { offsetOf, type PageOf, type PageRequest } from "../../../domain/paging/Paging.ts"
import { refusedBy, sqlStates } from "../../../domain/records/Constraints.ts"
import { type ChangeOf, columnName, type NewRowOf, type RowOf, type Table } from "./Table.ts"
import { columnOf, rowJson, type Test, toRow, valueSql, whereSql } from "./TableRowsRepo.ts"

/** Which rows: a value, null, or a test for each column that is named. */
export type Where<T> = {
  readonly [K in keyof RowOf<T>]?: RowOf<T>[K] | Test<NonNullable<RowOf<T>[K]>> | null | undefined
}

/** In which order: columns from the most important one on, `-` before a name for the largest first. Default `-createdAt`. */
export type OrderOf<T> = ReadonlyArray<keyof RowOf<T> & string | `-${keyof RowOf<T> & string}`>

/**
 * The rows of one table that belong to the organization of the request, and no others: reads do not see them, writes do
 * not reach them, and what is inserted is the organization's. Rows of a child table are those whose parent is. Each
 * write bears its entry in the change log (`<plugin>/<table>.create`, `.update`, `.delete`) in the same statement.
 */
export interface TableHandle<T> {
  /** 409 when a unique value or a range is taken; 422 when a row it refers to does not exist, or a condition of the table is not met. */
  readonly insert: (row: NewRowOf<T>) => Effect.Effect<RowOf<T>, Conflict | ValidationFailed, CurrentActor>
  /** The row of this id; undefined when the organization has none. */
  readonly find: (id: string) => Effect.Effect<RowOf<T> | undefined, never, CurrentActor>
  /** The same; 404 without it. */
  readonly get: (id: string) => Effect.Effect<RowOf<T>, NotFound, CurrentActor>
  /** Like `get`, with the row locked until the caller's transaction ends. */
  readonly lock: (id: string) => Effect.Effect<RowOf<T>, NotFound, CurrentActor>
  /** The first row, by the order. */
  readonly first: (where: Where<T>, order?: OrderOf<T>) => Effect.Effect<RowOf<T> | undefined, never, CurrentActor>
  /** At most `limit` rows (default 1000). */
  readonly list: (
    where: Where<T>,
    options?: { readonly order?: OrderOf<T>; readonly limit?: number }
  ) => Effect.Effect<ReadonlyArray<RowOf<T>>, never, CurrentActor>
  /** A page and how many rows there are in all. */
  readonly page: (
    where: Where<T>,
    page: PageRequest,
    order?: OrderOf<T>
  ) => Effect.Effect<PageOf<RowOf<T>>, never, CurrentActor>
  readonly count: (where: Where<T>) => Effect.Effect<number, never, CurrentActor>
  /**
   * Changes a row and gives it as it is then. With `only` the change happens if the row still meets it, which is how a
   * state machine guards itself: of several requests that saw the same state one wins. 404 when there is no such row or it
   * does not meet `only`; 409 and 422 as for an insert.
   */
  readonly update: (
    id: string,
    change: ChangeOf<T>,
    only?: Where<T>
  ) => Effect.Effect<RowOf<T>, NotFound | Conflict | ValidationFailed, CurrentActor>
  /** 404 without it; 409 when rows of other tables refer to it and do not go with it. */
  readonly delete: (id: string) => Effect.Effect<RowOf<T>, NotFound | Conflict, CurrentActor>
}

/** 404 of a row that the organization does not have. */
export class RowNotFound extends notFound("Row", "Not found.") {}
class RowTaken extends conflict("RowTaken", (table: string) => `${table} has such a row already.`) {}
class RowOverlaps extends conflict("RowOverlaps", (table: string) => `${table} has a row that overlaps this one.`) {}
class RowReferred extends conflict("RowReferred", (table: string) => `Other rows refer to this one of ${table}.`) {}
class BrokenReference extends invalid(
  "BrokenReference",
  "",
  (table: string) => `refers to a row that does not exist, or is referred to (${table})`
) {}
class ConditionNotMet extends invalid("ConditionNotMet", "", (table: string) => `a condition of ${table} is not met`) {}
class ParentNotFound
  extends invalid("ParentNotFound", (column: string) => column, () => "refers to a row that does not exist")
{}

/** Turns a refusal of the database into the error the client receives. */
const refusalOf = ({ name }: Table) =>
  refusedBy({
    [sqlStates.unique]: () => new RowTaken(name),
    [sqlStates.exclusion]: () => new RowOverlaps(name),
    [sqlStates.foreignKey]: () => new BrokenReference(name),
    [sqlStates.check]: () => new ConditionNotMet(name)
  })

/** Rows `t` of the organization: by their own column, or by their parent's. */
const own = (sql: SqlClient.SqlClient, { parent }: Table, organization: string): Statement.Fragment =>
  parent === undefined
    ? sql`t.organization_id = ${organization}`
    : sql`exists (select 1 from ${sql(parent.table.name)} p
        where p.id = t.${sql.literal(columnName(parent.column))} and p.organization_id = ${organization})`

const orderSql = (sql: SqlClient.SqlClient, table: Table, order: ReadonlyArray<string>): Statement.Fragment => {
  const given = order.map((name) =>
    name.startsWith("-") ? `t.${columnOf(table, name.slice(1))} desc` : `t.${columnOf(table, name)}`
  )
  // The id makes the order total: two pages never show the same row.
  return sql.literal([...given, given[0]?.endsWith(" desc") === false ? "t.id" : "t.id desc"].join(", "))
}

const newest = ["-createdAt"]

type Rows = ReadonlyArray<Readonly<Record<string, unknown>>>

/** What statements about a table have in common. */
interface Context {
  readonly sql: SqlClient.SqlClient
  readonly table: Table
  /** Names of the changes: `<plugin>/<table>`. */
  readonly subject: `${string}/${string}`
}

/** The entry of a change as a part of its statement; empty for a table that keeps none. */
const entry = (
  { sql, subject, table }: Context,
  actor: Actor,
  operation: "create" | "update" | "delete",
  from: string,
  [now, before]: readonly [now: string, before?: string]
) =>
  table.options.changeLog === false ? sql.literal("") : sql`, entry as (${
    changeLogRows(sql, actor, {
      type: `${subject}.${operation}`,
      entityType: subject,
      entityId: `${now}.id::text`,
      payload: rowJson(table, now),
      before: before === undefined ? undefined : rowJson(table, before),
      only: before === undefined ?
        undefined :
        `${rowJson(table, now)} - 'updatedAt' is distinct from ${rowJson(table, before)} - 'updatedAt'`,
      from
    })
  })`

/**
 * An SQL text before a statement's source: writes to a table with ranges that may not overlap come one after the other in
 * an organization. PostgreSQL writes each row before it looks for others, so that two at once would wait for each other
 * until one of them is ended as a deadlock.
 */
const turn = ({ sql, table }: Context, organization: string) =>
  table.options.excluding === undefined
    ? sql.literal("")
    : sql`, (select pg_advisory_xact_lock(hashtextextended(${`${table.name} ${organization}`}, 0))) turn`

/** Inserts the row where the row that it belongs to is the organization's. */
const insertSql = (context: Context, actor: Actor, given: Readonly<Record<string, unknown>>) => {
  const { sql, table } = context
  const row = {
    id: newId(),
    ...given,
    ...(table.kind === "organization" ? { organizationId: actor.organizationId } : {})
  }
  const named = Object.entries(row).filter(([, value]) => value !== undefined)
  const values = named.map(([name, value]) => valueSql(sql, table, name, value))
  const guard = table.parent === undefined ? sql.literal("") : sql`where exists (select 1
    from ${sql(table.parent.table.name)} p where p.organization_id = ${actor.organizationId}
      and p.id = ${valueSql(sql, table, table.parent.column, Reflect.get(given, table.parent.column))})`
  return sql`with made as (
      insert into ${sql(table.name)} (${sql.literal(named.map(([name]) => columnOf(table, name)).join(", "))})
      select ${sql.csv(values)} from (select 1) one${turn(context, actor.organizationId)} ${guard} returning *)${
    entry(context, actor, "create", "made", ["made"])
  }${idempotencyRecord(sql, actor, "made")}
    select * from made`
}

const updateSql = (
  context: Context,
  actor: Actor,
  id: string,
  change: Readonly<Record<string, unknown>>,
  only: Readonly<Record<string, unknown>>
) => {
  const { sql, table } = context
  const set = Object.entries(change).filter(([, value]) => value !== undefined).map(([name, value]) =>
    sql`${sql.literal(columnOf(table, name))} = ${valueSql(sql, table, name, value)}`
  )
  const stamped = table.kind === "organization" ? [...set, sql`updated_at = now()`] : [...set, sql`id = t.id`]
  const where = sql.and([sql`t.id = ${id}::uuid`, own(sql, table, actor.organizationId), ...whereSql(sql, table, only)])
  return sql`with old as materialized (select t.* from ${sql(table.name)} t${turn(context, actor.organizationId)}
      where ${where} for update of t),
    made as (update ${sql(table.name)} t set ${sql.csv(stamped)} from old where t.id = old.id returning t.*)${
    entry(context, actor, "update", "made join old on old.id = made.id", ["made", "old"])
  }${idempotencyRecord(sql, actor, "made")}
    select * from made`
}

const deleteSql = (context: Context, actor: Actor, id: string) => {
  const { sql, table } = context
  return sql`with gone as (delete from ${sql(table.name)} t where t.id = ${id}::uuid
      and ${own(sql, table, actor.organizationId)} returning t.*)${entry(context, actor, "delete", "gone", ["gone"])}${
    idempotencyRecord(sql, actor, "gone")
  }
    select * from gone`
}

/** Reads of a table. */
const readsOf = <T extends Table>({ sql, table }: Context, toRow: (row: Rows[number]) => RowOf<T>) => {
  const select = Effect.fnUntraced(function*(
    where: object,
    order: ReadonlyArray<string>,
    rest: Statement.Fragment
  ) {
    const { organizationId } = yield* CurrentActor
    const all = sql.and([own(sql, table, organizationId), ...whereSql(sql, table, { ...where })])
    const rows = yield* sql`select t.* from ${sql(table.name)} t where ${all}
      order by ${orderSql(sql, table, order)} ${rest}`
    return rows.map(toRow)
  }, Effect.orDie)

  const count = Effect.fnUntraced(function*(where: object) {
    const { organizationId } = yield* CurrentActor
    const all = sql.and([own(sql, table, organizationId), ...whereSql(sql, table, { ...where })])
    const [row] = yield* sql`select count(*) as count from ${sql(table.name)} t where ${all}`
    return Number(row?.["count"] ?? 0)
  }, Effect.orDie)

  const one = (id: string, rest: Statement.Fragment) => Effect.map(select({ id }, newest, rest), ([row]) => row)
  const found = (row: RowOf<T> | undefined) => row === undefined ? Effect.fail(new RowNotFound()) : Effect.succeed(row)
  const page = Effect.fnUntraced(function*(where: object, page: PageRequest, order: ReadonlyArray<string> = newest) {
    const rest = sql`limit ${page.limit} offset ${offsetOf(page)}`
    const [items, total] = yield* Effect.all([select(where, order, rest), count(where)], { concurrency: "unbounded" })
    return { ...page, items, total } satisfies PageOf<RowOf<T>>
  })
  return {
    find: (id: string) => one(id, sql.literal("")),
    get: (id: string) => Effect.flatMap(one(id, sql.literal("")), found),
    lock: (id: string) => Effect.flatMap(one(id, sql.literal("for update of t")), found),
    first: (where: object, order: ReadonlyArray<string> = newest) =>
      Effect.map(select(where, order, sql`limit 1`), ([row]) => row),
    list: (where: object, { limit = 1000, order = newest }: { order?: ReadonlyArray<string>; limit?: number } = {}) =>
      select(where, order, sql`limit ${limit}`),
    page,
    count
  }
}

/** Rows of a table; `plugin` is the prefix of the types of their changes. */
export const tableHandle = <T extends Table>(sql: SqlClient.SqlClient, plugin: string, table: T): TableHandle<T> => {
  const context: Context = { sql, table, subject: `${plugin}/${table.name}` }
  // The columns of a row are those that its type was made of.
  const rowOf = (row: Rows[number]) => toRow(table, row) as RowOf<T>
  const refused = refusalOf(table)

  const insert: TableHandle<T>["insert"] = Effect.fnUntraced(function*(row) {
    const actor = yield* CurrentActor
    const [made] = yield* Effect.catch(insertSql(context, actor, { ...row }), refused)
    if (made !== undefined) return rowOf(made)
    return yield* new ParentNotFound(table.parent?.column ?? "")
  })
  const update: TableHandle<T>["update"] = Effect.fnUntraced(function*(id, change, only = {}) {
    const actor = yield* CurrentActor
    const [made] = yield* Effect.catch(updateSql(context, actor, id, { ...change }, { ...only }), refused)
    return made === undefined ? yield* new RowNotFound() : rowOf(made)
  })
  const referred = () => new RowReferred(table.name)
  const kept = refusedBy({ [sqlStates.foreignKey]: referred, [sqlStates.restrict]: referred })
  const remove: TableHandle<T>["delete"] = Effect.fnUntraced(function*(id) {
    const actor = yield* CurrentActor
    const [gone] = yield* Effect.catch(deleteSql(context, actor, id), kept)
    return gone === undefined ? yield* new RowNotFound() : rowOf(gone)
  })
  return { ...readsOf<T>(context, rowOf), insert, update, delete: remove }
}
