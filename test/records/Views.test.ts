import { assert, it } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { TestDatabase } from "../support/Postgres.ts"
import { tables } from "./DeclaredTables.ts"

/** How a view differs from the columns that the record of its table describes. */
interface Difference {
  /** The table; absent: that of the view's name. */
  readonly of?: string
  /** Columns that its readers do not see. */
  readonly without?: ReadonlyArray<string>
  /** Columns that it computes, or that the record does not have. */
  readonly beside?: ReadonlyArray<string>
}

const differences: Readonly<Record<string, Difference>> = {
  cart_lines_read: { beside: ["organization_id"] },
  carts_read: { without: ["choices", "held_by", "secret_hash", "version"] },
  customer_addresses_read: { beside: ["created_at", "organization_id"] },
  customers_read: { beside: ["erased_at"] },
  entity_field_values_read: { without: ["unique_key"] },
  fulfillments_read: { without: ["taken"] },
  media_assets_read: {
    without: ["confidence", "derived_from_asset_id", "digest", "expires_at", "origin", "uploaded_by"]
  },
  order_lines_read: { without: ["taxes"], beside: ["organization_id"] },
  order_return_lines_read: { beside: ["order_id", "requested_at", "status"] },
  order_tenders_read: { without: ["needs_shopper"], beside: ["order_id", "organization_id"] },
  order_returns_read: {
    without: ["refund_id", "replacement_order_id", "requested_by", "updated_at"],
    beside: ["lines"]
  },
  orders_read: {
    without: [
      "capture_amount",
      "capture_due_at",
      "capture_refusals",
      "cart_secret_hash",
      "idempotency_key",
      "payment_claim_id",
      "payment_due_at",
      "payment_id",
      "request_hash"
    ]
  },
  outbox_events_read: { beside: ["entry_number"] },
  plugin_categories: { of: "categories" },
  plugin_customers: { of: "customers", beside: ["erased_at"] },
  plugin_entities: { of: "catalog_entities" },
  plugin_entity_categories: { of: "entity_categories" },
  plugin_entity_titles: {
    of: "entity_attributes",
    without: ["description", "id", "rich_description", "seo_description", "seo_title"]
  },
  plugin_events: {
    of: "outbox_events",
    without: [
      "actor_id",
      "actor_type",
      "before",
      "event_sequence",
      "ip",
      "request_id",
      "source",
      "user_agent"
    ],
    beside: ["entry_number"]
  },
  plugin_fulfillments: { of: "fulfillments", without: ["details", "metadata", "order_line_id"] },
  plugin_order_lines: { of: "order_lines", without: ["taxes"], beside: ["organization_id"] },
  plugin_order_status_changes: { of: "order_status_history" },
  plugin_orders: {
    of: "orders",
    without: [
      "capture_amount",
      "capture_due_at",
      "capture_refusals",
      "cart_secret_hash",
      "idempotency_key",
      "payment_claim_id",
      "payment_due_at",
      "payment_id",
      "payment_intent_id",
      "payment_method_id",
      "payment_provider",
      "request_hash",
      "tax_provider"
    ]
  },
  plugin_organizations: { of: "organizations", without: ["logo", "metadata"] },
  plugin_price_modifiers: { of: "price_modifiers" },
  plugin_prices: { of: "prices" },
  plugin_refund_lines: { of: "refund_lines", without: ["value"] },
  plugin_refunds: {
    of: "refunds",
    without: [
      "attempts",
      "failure",
      "given",
      "given_outside",
      "next_attempt_at",
      "provider_reference",
      "refusals",
      "restarts",
      "sent_at",
      "shipping_value",
      "undone_by"
    ]
  },
  plugin_stock_levels: {
    of: "stock_levels",
    without: ["allow_negative", "in_transit", "incoming", "on_hand", "reserved", "sellable_id"],
    beside: ["quantity_in_transit", "quantity_incoming", "quantity_on_hand", "quantity_reserved"]
  },
  plugin_tax_rates: {
    of: "tax_rates",
    without: ["applies_to_shipping", "compound", "metadata", "priority", "rate", "rate_bps"]
  },
  plugin_variants: { of: "variants", without: ["combination", "unique_sku"] },
  plugin_warehouses: { of: "warehouses", without: ["address"] },
  refunds_read: {
    without: ["attempts", "given", "given_outside", "next_attempt_at", "refusals", "restarts", "sent_at", "undone_by"]
  },
  stock_levels_read: { without: ["average_cost", "sellable_id"] },
  variants_read: { without: ["combination", "unique_sku"] }
}

/** Their tables have no record (`Tables.test.ts`). */
const withoutRecord = ["outbox_cursors_read", "stock_items_read", "users_read"]

it.layer(TestDatabase)("views of tables", (it) => {
  it.effect("show each column that the table's record describes, except for those listed here", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const views = yield* sql<{ name: string; columns: ReadonlyArray<string> }>`select table_name as name,
          array_agg(column_name::text) as columns
        from information_schema.columns join information_schema.views using (table_schema, table_name)
        where table_schema = 'public' and (table_name like '%\\_read' or table_name like 'plugin\\_%') group by 1`
      const described = Map.groupBy(yield* tables, ({ name }) => name)
      const shown = views.filter(({ name }) => !withoutRecord.includes(name))
      for (const { columns, name } of shown) {
        const { beside = [], of = name.replace(/_read$/, ""), without = [] } = differences[name] ?? {}
        const known = new Set((described.get(of) ?? []).flatMap(({ names }) => names.split(", ")))
        const expected = [...known.difference(new Set(without)), ...beside]
        assert.deepStrictEqual(columns.toSorted(), expected.toSorted(), name)
      }
      assert.deepStrictEqual(Object.keys(differences).filter((name) => !shown.some((view) => view.name === name)), [])
    }))
})
