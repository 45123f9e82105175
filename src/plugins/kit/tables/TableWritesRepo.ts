import type { SqlClient, Statement } from "effect/sql"
import type { Actor } from "../../../domain/platform/access/Actor.ts"
import { changeLogRows } from "../../../domain/platform/events/ChangeLogRepo.ts"
import { idempotencyRecord } from "../../../domain/platform/idempotency/IdempotencyRecordRepo.ts"
import type { RowBound } from "./RowBounds.ts"
import { columnName, type Table } from "./Table.ts"
import { fits } from "./TableBoundsRepo.ts"
import { columnOf, rowJson, valueFromJson, valueSql } from "./TableRowsRepo.ts"
import { turn, turnSource } from "./TableTurnsRepo.ts"

/** What statements about a table have in common. */
export interface Context {
  readonly sql: SqlClient.SqlClient
  readonly table: Table
  /** Names of the changes: `<plugin>/<table>`. */
  readonly subject: `${string}/${string}`
}

/** Values by the names of their columns. */
export type Values = Readonly<Record<string, unknown>>

/** Rows `t` of the organization: by their own column, or by their parent's. */
export const own = (sql: SqlClient.SqlClient, { parent }: Table, organization: string): Statement.Fragment =>
  parent === undefined
    ? sql`t.organization_id = ${organization}`
    : sql`exists (select 1 from ${sql(parent.table.name)} p
        where p.id = t.${sql.literal(columnName(parent.column))} and p.organization_id = ${organization})`

/** Whether a secret is another one: rows show none, but its change has an entry. */
const secretsDiffer = ({ columns }: Table, now: string, before: string): string =>
  Object.entries(columns).filter(([, { facts }]) => facts.isSecret).map(([name]) =>
    ` or ${now}.${columnName(name)} is distinct from ${before}.${columnName(name)}`
  ).join("")

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
        `${rowJson(table, now)} - 'updatedAt' is distinct from ${rowJson(table, before)} - 'updatedAt'${
          secretsDiffer(table, now, before)
        }`,
      from
    })
  })`

/** The values that are unique together, by which rows are inserted in one order: two inserts of the same do not deadlock. */
const uniques = ({ columns, options }: Table): ReadonlyArray<string> => [
  ...Object.keys(columns).filter((name) => columns[name]?.facts.uniqueness !== undefined),
  ...(options.unique ?? []).flatMap((unique) => unique.columns)
]

/**
 * Inserts the rows, each with its id, where all rows that they belong to are the organization's, else none. They are one parameter, so that
 * the statement is the same for any number of them. With `on` a row that is taken in these columns is left out. None
 * is made when a bound would be exceeded.
 */
export const insertSql = (
  context: Context,
  actor: Actor,
  rows: ReadonlyArray<Values>,
  bounds: ReadonlyArray<RowBound>,
  on?: string
) => {
  const { sql, table } = context
  const { kind, parent } = table
  const names = Object.entries(table.columns)
  const values = names.map(([name, { facts: { fallback } }]) =>
    fallback === undefined
      ? valueFromJson(table, name)
      : `case when o ? '${name}' then ${valueFromJson(table, name)} else ${fallback} end`
  )
  const owner = kind === "organization" ? sql`, ${actor.organizationId}::text` : sql.literal("")
  const bound = bounds.length === 0
    ? sql.literal("")
    : sql`where ${fits(sql, table, bounds, actor.organizationId)}`
  const guard = parent === undefined ? bound : sql`where (select count(*) from input) =
      (select count(*) from input join ${sql(parent.table.name)} p on p.organization_id = ${actor.organizationId}
        and p.id = ${sql.literal(valueFromJson(table, parent.column))})`
  const order = [...uniques(table).map((name) => `o->>'${name}'`), "n"].join(", ")
  return sql`with input as (select o, n from jsonb_array_elements(${
    JSON.stringify(rows)
  }::jsonb) with ordinality i (o, n)),
    made as (
      insert into ${sql(table.name)} (${
    sql.literal(["id", ...names.map(([name]) => columnOf(table, name))].join(", "))
  }${sql.literal(kind === "organization" ? ", organization_id" : "")})
      select ${sql.literal([valueFromJson(table, "id"), ...values].join(", "))}${owner}
      from input${turn(sql, table, actor.organizationId, Object.keys(table.columns))} ${guard} order by ${
    sql.literal(order)
  }
      ${sql.literal(on === undefined ? "" : `on conflict ${on} do nothing`)} returning *)${
    entry(context, actor, "create", "made", ["made"])
  }${idempotencyRecord(sql, actor, "made")}
    select * from made`
}

/** Whether a row that a change moves to another parent moves to one of the organization; a part of its statement. */
const movesWithin = ({ sql, table }: Context, organization: string, change: Values) => {
  const { parent } = table
  if (parent === undefined || change[parent.column] === undefined) return sql`true`
  return sql`exists (select 1 from ${sql(parent.table.name)} p where p.organization_id = ${organization}
    and p.id = ${valueSql(sql, table, parent.column, change[parent.column])})`
}

/**
 * Changes the rows that meet `where` and, once they are locked, `only`. A row that does not meet `only` is given as it
 * is, with `_changed` false; so are all, with `_within` false, when their new parent is not the organization's.
 */
export const updateSql = (
  context: Context,
  actor: Actor,
  change: Values,
  where: ReadonlyArray<Statement.Fragment>,
  only: ReadonlyArray<Statement.Fragment>
) => {
  const { sql, table } = context
  const set = Object.entries(change).filter(([, value]) => value !== undefined).map(([name, value]) =>
    sql`${sql.literal(columnOf(table, name))} = ${valueSql(sql, table, name, value)}`
  )
  const stamped = table.kind === "organization" ? [...set, sql`updated_at = now()`] : [...set, sql`id = t.id`]
  return sql`with old as materialized (select t.* from ${sql(table.name)} t${
    turn(sql, table, actor.organizationId, Object.keys(change))
  }
      where ${sql.and([own(sql, table, actor.organizationId), ...where])} order by t.id for update of t),
    parent as materialized (select ${movesWithin(context, actor.organizationId, change)} as within),
    made as (update ${sql(table.name)} t set ${sql.csv(stamped)} from old, parent
      where ${sql.and([sql`t.id = old.id`, sql`parent.within`, ...only])} returning t.*)${
    entry(context, actor, "update", "made join old on old.id = made.id", ["made", "old"])
  }${idempotencyRecord(sql, actor, "made")}
    select true as _changed, true as _within, made.* from made
    union all select false, parent.within, old.* from old, parent
      where not exists (select 1 from made where made.id = old.id)`
}

/**
 * Changes each of the rows, which name their ids, to what it says, where all of them are the organization's, else none.
 * They are one parameter, as those of an insert.
 */
export const updateEachSql = (context: Context, actor: Actor, rows: ReadonlyArray<Values>) => {
  const { sql, table } = context
  const named = [...new Set(rows.flatMap((row) => Object.keys(row)))].filter((name) => name !== "id")
  const set = named.map((name) => {
    const column = columnOf(table, name)
    return `${column} = case when o ? '${name}' then ${valueFromJson(table, name)} else t.${column} end`
  })
  const stamp = table.kind === "organization" ? "updated_at = now()" : "id = t.id"
  return sql`with input as materialized (select o, (o->>'id')::uuid as row_id
      from jsonb_array_elements(${JSON.stringify(rows)}::jsonb) i (o)),
    old as materialized (select t.* from ${sql(table.name)} t${turn(sql, table, actor.organizationId, named)}
      where ${
    own(sql, table, actor.organizationId)
  } and t.id in (select row_id from input) order by t.id for update of t),
    made as (update ${sql(table.name)} t set ${sql.literal([...set, stamp].join(", "))}
      from old join input on input.row_id = old.id
      where t.id = old.id and (select count(*) from old) = (select count(*) from input) returning t.*)${
    entry(context, actor, "update", "made join old on old.id = made.id", ["made", "old"])
  }${idempotencyRecord(sql, actor, "made")}
    select * from made`
}

/** Deletes the rows that meet `where`. */
export const deleteSql = (context: Context, actor: Actor, where: ReadonlyArray<Statement.Fragment>) => {
  const { sql, table } = context
  const source = turnSource(sql, table, actor.organizationId)
  const using = source === undefined ? sql.literal("") : sql`using ${source}`
  return sql`with gone as (delete from ${sql(table.name)} t ${using} where ${
    sql.and([own(sql, table, actor.organizationId), ...where])
  } returning t.*)${entry(context, actor, "delete", "gone", ["gone"])}${idempotencyRecord(sql, actor, "gone")}
    select * from gone`
}
