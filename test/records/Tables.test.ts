import { assert, describe, it, layer } from "@effect/vitest"
import { Effect, Schema, String } from "effect"
import { SqlClient } from "effect/sql"
import { readFileSync } from "node:fs"
import type { Table } from "../../src/domain/platform/records/Table.ts"
import { TestDatabase } from "../support/Postgres.ts"
import { declaring, tables } from "./DeclaredTables.ts"

const admitsNull = (field: Schema.Top): boolean => Schema.is(Schema.toType(field))(null)

/** What keeps a record's fields from being stored in its table; empty when nothing does. */
const problemsOf = (table: Table<object>, columns: ReadonlyMap<string, boolean>): ReadonlyArray<string> =>
  Object.entries(table.schema.fields).filter(([field]) => !(field in table.computed)).flatMap(([field, schema]) => {
    const column = String.camelToSnake(field)
    const nullable = columns.get(column)
    if (nullable === undefined) return [`${table.name} has no column ${column}`]
    return nullable && !admitsNull(schema)
      ? [`${table.name}.${column} may be null, and the record's field may not`]
      : []
  })

/** Tables that keep no record of the domain, and why. */
const withoutRecord: Readonly<Record<string, string>> = {
  cart_lines_with_metadata: "inherits cart_lines",
  catalog_totals: "counters",
  cluster_locks: "of Effect's cluster",
  cluster_messages: "of Effect's cluster",
  cluster_replies: "of Effect's cluster",
  cluster_runners: "of Effect's cluster",
  entity_field_schemas: "a version per entity type, which writers lock",
  idempotency_keys: "encrypted answers of requests, for a day",
  idempotency_records: "marks of requests that have changed something",
  invoice_counters: "counters",
  job_keys: "locks of the job queue",
  list_changes: "counters",
  list_totals: "counters",
  order_counters: "counters",
  outbox_cursors: "positions of the relay",
  outbox_relay: "state of the relay",
  plugin_counters: "counters",
  plugin_tables: "names of the tables that plugins have",
  promotion_buyer_usages: "counters of promotion_usages",
  rate_limit_counters: "counters",
  scheduler_ticks: "the last run of each schedule",
  search_documents: "the search index, made from the catalog",
  search_fields: "the search index, made from the catalog",
  search_stale: "the search index, made from the catalog",
  search_vocabulary: "the search index, made from the catalog",
  sessions: "Better Auth describes, reads and writes it",
  stock_items: "versions of stock levels",
  two_factors: "Better Auth describes, reads and writes it",
  user_accounts: "Better Auth describes, reads and writes it",
  users: "Better Auth describes, reads and writes it",
  verifications: "Better Auth describes, reads and writes it",
  worker_slots: "slots of the job queue"
}

/** Columns that no record has, and why. */
const besideRecords: Readonly<Record<string, string>> = {
  ...Object.fromEntries(
    [
      "config_id",
      "enabled",
      "key",
      "last_refill_at",
      "organization_id",
      "rate_limit_enabled",
      "rate_limit_max",
      "rate_limit_time_window",
      "reference_id",
      "refill_amount",
      "refill_interval",
      "remaining",
      "request_count",
      "second_factor",
      "updated_at"
    ].map((column) => [`api_keys.${column}`, "Better Auth describes the table, which has more than a key shows"])
  ),
  "cart_lines.organization_id": "that of the cart",
  "carts.checkout_id": "the claim of a checkout, which alone reads and writes it",
  "customer_addresses.created_at": "the order of lists",
  "customer_addresses.organization_id": "that of the customer",
  "customers.erased_at": "a mark of erased records, which are not read",
  "entity_revisions.superseded_at": "when a later revision replaced it, for the purge",
  "entity_revisions.transaction_id": "joins the changes of a transaction",
  "order_lines.organization_id": "that of the order",
  "order_tenders.order_id": "that of the order",
  "order_tenders.organization_id": "that of the order",
  "outbox_events.entry_number": "made by the database",
  "refunds.outstanding": "made by the database of two other columns",
  "tax_classes.rate_bps": "the rate for the previous version",
  "tax_rates.rate_bps": "the rate for the previous version",
  "tax_rates.region_country": "the country; the column country hides from the previous version what it would misread",
  "webhook_endpoints.previous_secret": "encrypted, read as one field",
  "webhook_endpoints.previous_secret_key_id": "encrypted, read as one field",
  "webhook_endpoints.previous_secret_until": "encrypted, read as one field",
  "webhook_endpoints.secret": "encrypted, read as one field",
  "webhook_endpoints.secret_key_id": "encrypted, read as one field"
}

const columnsByTable = Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  const rows = yield* sql<{ table: string; column: string; nullable: boolean }>`select c.table_name as table,
      c.column_name as column, c.is_nullable = 'YES' as nullable
    from information_schema.columns c join information_schema.tables t using (table_schema, table_name)
    where c.table_schema = 'public' and t.table_type = 'BASE TABLE'
      and c.table_name not like '%\\_migrations'`
  return Map.groupBy(rows, ({ table }) => table)
})

describe("tables of records", () => {
  layer(TestDatabase)((it) => {
    it.effect("have a column for each field, which is never null where the field is not", () =>
      Effect.gen(function*() {
        const columns = yield* columnsByTable
        const problems = (yield* tables).flatMap((table) =>
          problemsOf(table, new Map(columns.get(table.name)?.map(({ column, nullable }) => [column, nullable])))
        )
        assert.deepStrictEqual(problems, [])
      }))

    it.effect("describe every table of the database, except for those listed here", () =>
      Effect.gen(function*() {
        const described = new Set((yield* tables).map(({ name }) => name))
        const missing = [...(yield* columnsByTable).keys()].filter((name) => !described.has(name))
        assert.deepStrictEqual(missing.toSorted(), Object.keys(withoutRecord).toSorted())
      }))

    it.effect("describe every column of their tables, except for those listed here", () =>
      Effect.gen(function*() {
        const described = new Set(
          (yield* tables).flatMap(({ name, names }) => names.split(", ").map((column) => `${name}.${column}`))
        )
        const missing = [...(yield* columnsByTable)].filter(([name]) => !(name in withoutRecord)).flatMap((
          [name, columns]
        ) => columns.map(({ column }) => `${name}.${column}`).filter((column) => !described.has(column)))
        assert.deepStrictEqual(missing.toSorted(), Object.keys(besideRecords).toSorted())
      }))
  })

  it.effect("are exported, so that this test sees them", () =>
    Effect.gen(function*() {
      const declared = declaring.flatMap((file) => readFileSync(file, "utf8").match(/= new Table\(/g) ?? [])
      assert.lengthOf(yield* tables, declared.length)
    }))
})
