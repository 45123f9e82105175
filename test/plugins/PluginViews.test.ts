import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { onDatabase } from "../checkout/CheckoutFixtures.ts"
import { aCartWith, aProduct, checkOut } from "../support/Purchase.ts"
import { api, asAdmin, live, testAppLayer } from "../support/TestApp.ts"

/** What plugins were promised (docs/plugins.md): a column may be added here, and none removed. */
const promised: Readonly<Record<string, string>> = {
  plugin_orders:
    "id organization_id order_number customer_id cart_id status currency subtotal tax_total tax_included " +
    "shipping_total discount_total grand_total amount_captured refunded_total refunded_shipping email " +
    "shipping_address metadata is_draft revision placed_at updated_at fulfilled_at cancelled_at imported_at",
  plugin_order_lines: "id organization_id order_id position entity_id entity_type variant_id sku title quantity " +
    "unit_price total_price is_custom_price tax_amount discount_amount refunded_quantity refunded_value " +
    "fulfillment_status metadata notes price_steps",
  plugin_order_status_changes: "id organization_id order_id from_status to_status reason changed_by changed_at",
  plugin_refunds: "id organization_id order_id kind amount shipping_amount reason status performed_by released_stock " +
    "undone_at created_at updated_at",
  plugin_refund_lines: "organization_id refund_id order_line_id quantity amount restock restocked",
  plugin_customers: "id organization_id user_id email phone first_name last_name group_ids metadata created_at " +
    "updated_at erased_at",
  plugin_organizations: "id slug name created_at",
  plugin_entities:
    "id organization_id type slug status is_visible tax_class metadata created_at updated_at published_at",
  plugin_entity_titles: "organization_id entity_id locale title subtitle",
  plugin_variants: "id organization_id entity_id sku barcode tax_class status sort_order metadata",
  plugin_categories: "id organization_id parent_id slug sort_order status metadata",
  plugin_entity_categories: "organization_id entity_id category_id sort_order",
  plugin_prices:
    "id organization_id entity_id variant_id currency amount compare_at_amount customer_group_id min_quantity " +
    "max_quantity valid_from valid_until metadata created_at updated_at",
  plugin_price_modifiers:
    "id organization_id name type value priority entity_id variant_id customer_group_id currency " +
    "min_quantity max_quantity conditions valid_from valid_until metadata created_at updated_at",
  plugin_tax_rates: "id organization_id name country state postal_code tax_class_id is_active valid_from valid_until " +
    "created_at updated_at",
  plugin_warehouses: "id organization_id name code is_active priority metadata",
  plugin_stock_levels: "id organization_id warehouse_id entity_id variant_id quantity_on_hand quantity_reserved " +
    "quantity_incoming quantity_in_transit unit_cost reorder_threshold reorder_quantity last_restocked_at updated_at " +
    "average_cost",
  plugin_events: "id entry_number organization_id type entity_type entity_id payload created_at position",
  plugin_fulfillments: "id organization_id order_id type status carrier tracking_number tracking_url " +
    "estimated_delivery shipped_at delivered_at taken created_at updated_at"
}

layer(testAppLayer(), live)("the views for plugins", (it) => {
  it.effect("have the columns that plugins were promised", () =>
    Effect.gen(function*() {
      const rows = yield* onDatabase((sql) =>
        sql`select table_name as view, column_name as name from information_schema.columns
          where table_name like 'plugin\\_%' and table_name in ${sql.in(Object.keys(promised))}`
      )
      for (const [view, columns] of Object.entries(promised)) {
        const names = rows.filter((row) => row["view"] === view).map(({ name }) => String(name))
        assert.includeMembers(names, columns.split(" "), view)
      }
    }))

  it.effect("show an order with its refund as the API does", () =>
    Effect.gen(function*() {
      const order = yield* checkOut(yield* aCartWith(yield* aProduct({ price: 700 }), 2))
      const lineId = order.text("data.lineItems.0.id")
      const body = { reason: "worn", lines: [{ lineItemId: lineId, quantity: 1 }] }
      const refund = yield* api("POST", `/api/orders/${order.text("data.id")}/refunds`, { as: asAdmin, body })
      assert.strictEqual(refund.status, 201, JSON.stringify(refund.body))
      const [row] = yield* onDatabase((sql) =>
        sql`select o.order_number as number, o.grand_total::int4 as total, l.quantity, r.amount::int4 as amount,
            rl.quantity as returned
          from plugin_orders o join plugin_order_lines l on l.order_id = o.id join plugin_refunds r on r.order_id = o.id
            join plugin_refund_lines rl on rl.refund_id = r.id and rl.order_line_id = l.id
          where o.id = ${order.text("data.id")}::uuid`
      )
      assert.deepStrictEqual(row, {
        number: order.text("data.orderNumber"),
        total: 1_400,
        quantity: 2,
        amount: 700,
        returned: 1
      })
    }))
})
