import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { inBulk } from "../support/InBulk.ts"

/** Rows of one order, customer or entity, in lists of what belongs to it: more than 50 pages. */
export const ofOne = 1_200

/** SQL of an id for each number. */
export const uuid = "('00000000-0000-4000-8000-' || lpad(to_hex(n), 12, '0'))::uuid"

/** The first rows belong to what the row that is repeated belongs to, the others to others. */
export const few = (column: string, count = ofOne) => ({
  [column]: `case when n <= ${count} then t.${column} else ${uuid} end`
})

interface Copies {
  /** A condition on the row that is repeated. */
  readonly of?: string
  /** SQL of a copy's columns over `n` and the row `t`, where it is not the row's. */
  readonly columns?: Readonly<Record<string, string>>
}

/** Tables that grow, and how the copies of a row differ beyond what its unique indexes and times ask for. */
export type Growing = Readonly<Record<string, Copies>>

export const growing: Growing = {
  api_keys: {},
  brands: {},
  catalog_entities: {},
  categories: { of: "parent_id is null" },
  commerce_jobs: { of: "status = 'failed'" },
  compensation_failures: { columns: { refund_id: "null" } },
  customer_addresses: { columns: { ...few("customer_id"), is_default: "false" } },
  customer_group_members: {},
  customer_groups: {},
  customer_interactions: { columns: few("customer_id") },
  customers: {},
  entity_attribute_drafts: { columns: { entity_id: uuid } },
  entity_media: { columns: few("entity_id") },
  entity_revisions: { columns: few("entity_id", 100) },
  fulfillments: { columns: few("order_id") },
  import_changes: {},
  import_refusals: {},
  import_warnings: {},
  imports: {},
  media_assets: {},
  members: {},
  order_lines: { columns: { ...few("order_id"), entity_type: "'digitalDownload'" } },
  order_mails: { columns: { ...few("order_id"), outcome: "'sent'", failure: "null" } },
  order_notes: { of: "visibility = 'customer'", columns: few("order_id") },
  order_return_lines: { columns: { return_id: uuid, order_line_id: "t.order_line_id" } },
  order_returns: { of: "order_id in (select id from orders where cart_id is not null)", columns: few("order_id") },
  orders: { of: "customer_id is not null", columns: { ...few("customer_id"), status: "'confirmed'" } },
  outbox_events: {
    // Repeats the entry of the order that was bought, because the requests ask for its history.
    of: "type = 'orders.create' and entity_id in (select id::text from orders where cart_id is not null)",
    columns: {
      position: "1000000 + n",
      event_sequence: "null",
      entity_id: `case when n <= ${ofOne} then t.entity_id else 'copy ' || n end`
    }
  },
  price_modifiers: { columns: few("entity_id") },
  prices: { columns: { ...few("entity_id"), min_quantity: "n + 1" } },
  promotions: { columns: { code: "'CODE' || n" } },
  // None is tried while lists are read.
  refunds: { columns: { ...few("order_id"), next_attempt_at: "now() + interval '1 day'" } },
  shipping_rates: {},
  shipping_zones: {},
  stock_items: { columns: { sellable_id: uuid } },
  stock_levels: { columns: { sellable_id: uuid, entity_id: uuid, variant_id: "null", warehouse_id: "t.warehouse_id" } },
  tax_classes: { columns: { is_default: "false" } },
  tax_rates: {},
  users: {},
  warehouses: {},
  webhook_deliveries: {}
}

interface ColumnFacts {
  readonly name: string
  readonly type: string
  /** Of unique indexes of which the column is the last one beside the organization. */
  readonly tells: boolean
}

const columnsOf = Effect.fnUntraced(function*(table: string) {
  const sql = yield* SqlClient.SqlClient
  return yield* sql<ColumnFacts>`select a.attname as name, format_type(a.atttypid, null) as type,
      exists (select 1 from pg_index i where i.indrelid = a.attrelid and i.indisunique and i.indpred is null
        and a.attnum = (select max_by.attnum from unnest(i.indkey::int2[]) with ordinality k(attnum, place)
          join pg_attribute max_by on max_by.attrelid = i.indrelid and max_by.attnum = k.attnum
          where max_by.attname <> 'organization_id' order by k.place desc limit 1)) as tells
    from pg_attribute a where a.attrelid = ${table}::regclass and a.attnum > 0 and not a.attisdropped
      and a.attgenerated = '' and a.attidentity <> 'a'
    order by a.attnum`
})

const copied = ({ name, tells, type }: ColumnFacts): string => {
  if (type.startsWith("timestamp")) return `t.${name} - n * interval '1 second'`
  if (!tells) return `t.${name}`
  return type === "uuid" ? uuid : type === "text" ? "'copy ' || n" : `n + 1000`
}

/** Repeats a row of a table. */
const repeat = Effect.fnUntraced(function*(table: string, rows: number, { columns = {}, of = "true" }: Copies) {
  const sql = yield* SqlClient.SqlClient
  const all = yield* columnsOf(table)
  yield* sql.unsafe(`insert into ${table} (${all.map(({ name }) => name).join(", ")})
    select ${all.map((column) => columns[column.name] ?? copied(column)).join(", ")}
    from (select * from ${table} where ${of} limit 1) t, generate_series(1, ${rows}) n`)
})

/** What triggers and statements count besides, which rows that came without them leave behind. */
const countAll = Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  yield* sql`delete from catalog_totals`
  yield* sql`insert into catalog_totals (organization_id, type, status, is_visible, slot, entities)
    select organization_id, type, status, is_visible, 0, count(*) from catalog_entities group by 1, 2, 3, 4`
  yield* sql`update outbox_cursors set position = 10000000,
    purged_position = 10000000 - (select count(*) from outbox_events where position is not null)`
  yield* sql`update imports i set refused = found, read = found + unchanged, rows = found + unchanged
    from (select import_id, count(*) as found from import_refusals group by 1) r where r.import_id = i.id`
  yield* sql`update imports i set warned = found
    from (select import_id, count(*) as found from import_warnings group by 1) r where r.import_id = i.id`
  yield* sql`update imports i set created = found, read = read + found, rows = rows + found, dry_run = true
    from (select import_id, count(*) as found from import_changes group by 1) r where r.import_id = i.id`
  const counted = yield* sql<{ recount: string }>`select proname as recount from pg_proc where proname ~ '_recount$'`
  yield* Effect.forEach(counted, ({ recount }) => sql`select ${sql(recount)}()`)
})

/** Repeats one row of each table so many times, with real statistics afterwards. */
export const manyRows = (rows: number, growingTables = growing) =>
  Effect.gen(function*() {
    const sql = yield* SqlClient.SqlClient
    const tables = Object.entries(growingTables)
    yield* inBulk(Effect.andThen(
      Effect.forEach(tables, ([table, copies]) => repeat(table, rows, copies), { discard: true }),
      countAll
    ))
    yield* sql`vacuum analyze`
  })
