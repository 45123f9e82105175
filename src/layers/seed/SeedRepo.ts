import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import type { Actor } from "../../domain/access/Actor.ts"
import { changeLogInsert } from "../../domain/events/ChangeLogRepo.ts"
import type { Change } from "../../domain/events/Event.ts"

/** The columns a seed writes, with their types; the rest keep their defaults. In the order of the foreign keys. */
const tables = {
  brands: { id: "uuid", organization_id: "text", slug: "text", display_name: "text" },
  categories: { id: "uuid", organization_id: "text", slug: "text", sort_order: "int", metadata: "jsonb" },
  catalog_entities: {
    id: "uuid",
    organization_id: "text",
    type: "text",
    slug: "text",
    status: "text",
    is_visible: "boolean",
    metadata: "jsonb",
    created_at: "timestamptz",
    updated_at: "timestamptz",
    published_at: "timestamptz"
  },
  entity_attributes: {
    id: "uuid",
    organization_id: "text",
    entity_id: "uuid",
    locale: "text",
    title: "text",
    description: "text"
  },
  entity_categories: { organization_id: "text", entity_id: "uuid", category_id: "uuid", sort_order: "int" },
  entity_brands: { organization_id: "text", entity_id: "uuid", brand_id: "uuid" },
  option_types: {
    id: "uuid",
    organization_id: "text",
    entity_id: "uuid",
    name: "text",
    display_name: "text",
    sort_order: "int"
  },
  option_values: {
    id: "uuid",
    organization_id: "text",
    option_type_id: "uuid",
    value: "text",
    display_value: "text",
    sort_order: "int"
  },
  variants: {
    id: "uuid",
    organization_id: "text",
    entity_id: "uuid",
    sku: "text",
    sort_order: "int",
    metadata: "jsonb",
    combination: "text"
  },
  variant_option_values: { organization_id: "text", variant_id: "uuid", option_value_id: "uuid" },
  prices: {
    id: "uuid",
    organization_id: "text",
    entity_id: "uuid",
    currency: "text",
    amount: "bigint",
    customer_group_id: "text",
    min_quantity: "int",
    created_at: "timestamptz",
    updated_at: "timestamptz"
  },
  warehouses: { id: "uuid", organization_id: "text", name: "text", code: "text" },
  stock_items: { organization_id: "text", sellable_id: "uuid", version: "bigint" },
  stock_levels: {
    id: "uuid",
    organization_id: "text",
    sellable_id: "uuid",
    warehouse_id: "uuid",
    entity_id: "uuid",
    variant_id: "uuid",
    on_hand: "int",
    last_restocked_at: "timestamptz",
    updated_at: "timestamptz"
  },
  stock_movements: {
    id: "uuid",
    organization_id: "text",
    entity_id: "uuid",
    variant_id: "uuid",
    warehouse_id: "uuid",
    type: "text",
    quantity: "int",
    reason: "text"
  },
  promotions: {
    id: "uuid",
    organization_id: "text",
    code: "text",
    name: "text",
    type: "text",
    value: "numeric",
    is_automatic: "boolean",
    conditions: "jsonb",
    created_at: "timestamptz",
    updated_at: "timestamptz"
  }
} as const

type Tables = typeof tables

/** Rows by table, each with every column its table names above. */
export type SeedRows = { readonly [T in keyof Tables]: ReadonlyArray<{ readonly [C in keyof Tables[T]]: unknown }> }

/** Any fixed number: processes that start together on one empty database seed one after the other under this lock. */
const seedLock = 4_821_008

/** One statement per table: a first start is over before anybody has opened the browser. */
const insert = (sql: SqlClient.SqlClient, table: keyof Tables, rows: ReadonlyArray<unknown>) => {
  const columns = Object.entries(tables[table])
  return sql`insert into ${sql(table)} (${sql.literal(columns.map(([name]) => name).join(", "))})
    select * from jsonb_to_recordset(${JSON.stringify(rows)}::jsonb)
      as r(${sql.literal(columns.map((column) => column.join(" ")).join(", "))})`
}

/**
 * Writes a first catalog with its entries of the change log into an organization that has none, in one transaction. False, and nothing
 * written, when the organization has a catalog already or does not exist.
 */
export const seedOnce = Effect.fn("SeedRepo.seedOnce")(
  function*(actor: Actor, rows: SeedRows, changes: ReadonlyArray<Change>) {
    const sql = yield* SqlClient.SqlClient
    return yield* sql.withTransaction(Effect.gen(function*() {
      // Two processes may find the same empty store. The second one waits here and then sees what the first committed.
      yield* sql`select pg_advisory_xact_lock(${seedLock})`
      const [found] = yield* sql<{ readonly empty: boolean }>`select not exists (
          select 1 from catalog_entities where organization_id = o.id) as empty
        from organizations o where o.id = ${actor.organizationId}`
      if (found?.empty !== true) return false
      for (const [table, list] of Object.entries(rows)) {
        // The keys of SeedRows are those of `tables`; Object.entries forgets that.
        yield* insert(sql, table as keyof Tables, list)
      }
      yield* changeLogInsert(sql, actor, changes)
      return true
    }))
  },
  Effect.orDie
)
