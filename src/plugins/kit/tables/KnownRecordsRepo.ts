import { Effect, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { decoding } from "../../../domain/platform/records/Rows.ts"
import { quoted } from "./Column.ts"
import { columnName, type Table } from "./Table.ts"
import { digestOf } from "./TableSql.ts"

/*
 * Columns that name records of the core (`existing`) are looked up when they are written, by a trigger: so no statement of a
 * plugin stores the id of nothing, or of a record of another organization. No foreign key, because the record may go later.
 */

const views = {
  customer: "plugin_customers",
  entity: "plugin_entities",
  order: "plugin_orders",
  variant: "plugin_variants",
  warehouse: "plugin_warehouses"
} as const

/** Columns of a table that name records of the core. */
export const existingOf = ({ columns }: Table) =>
  Object.keys(columns).flatMap((name) => {
    const existing = columns[name]?.facts.existing
    return existing === undefined ? [] : [{ name, existing }]
  })

/** The name of the constraint that a column violates when it names no record. */
export const knownConstraint = (column: string): string => `known_${column}`

const organizationOf = ({ parent }: Table): string =>
  parent === undefined
    ? "new.organization_id"
    : `(select p.organization_id from ${parent.table.name} p where p.id = new.${columnName(parent.column)})`

/** The statements of a trigger's function: one look-up for each column that a change sets. A variant is one of its entity. */
const lookUps = (table: Table): string =>
  existingOf(table).map(({ existing, name }) => {
    const column = columnName(name)
    const isOfEntity = existing === "variant" && table.columns["entityId"] !== undefined
    return `if new.${column} is not null and (tg_op = 'INSERT' or new.${column} is distinct from old.${column}) and not exists (
        select 1 from ${views[existing]} r where r.organization_id = ${organizationOf(table)} and r.id = new.${column}
        ${isOfEntity ? "and r.entity_id = new.entity_id" : ""}) then
      raise foreign_key_violation using constraint = ${quoted(knownConstraint(name))},
        message = ${quoted(`${table.name}.${column} names no ${existing}`)};
    end if;`
  }).join("\n")

/** The name of the trigger of a table; undefined without such columns. Its rules are a part of it. */
export const knownTrigger = (table: Table): string | undefined => {
  const rules = lookUps(table)
  return rules === "" ? undefined : `known_${digestOf(rules)}`
}

const Trigger = Schema.Struct({ table: Schema.String, name: Schema.String })

/** Lets the database look up what the tables name from now on, and no longer what they named before. */
export const lookUpRecords = Effect.fnUntraced(function*(tables: ReadonlyArray<Table>) {
  const sql = yield* SqlClient.SqlClient
  const there = yield* decoding(sql, Trigger)`select c.relname as table, t.tgname as name
    from pg_trigger t join pg_class c on c.oid = t.tgrelid
    where c.relnamespace = current_schema()::regnamespace and c.relname = any(${tables.map(({ name }) => name)}::text[])
      and t.tgname ~ '^known_[0-9a-f]{8}$'`
  for (const table of tables) {
    const trigger = knownTrigger(table)
    const before = there.filter((one) => one.table === table.name)
    if (before.some(({ name }) => name === trigger)) continue
    for (const { name } of before) yield* sql`drop trigger ${sql(name)} on ${sql(table.name)}`
    if (trigger === undefined) continue
    yield* sql.unsafe(`create or replace function ${table.name}_known() returns trigger language plpgsql as $$
      begin ${lookUps(table)} return null; end $$`)
    yield* sql.unsafe(`create trigger ${trigger} after insert or update on ${table.name}
      for each row execute function ${table.name}_known()`)
  }
})
