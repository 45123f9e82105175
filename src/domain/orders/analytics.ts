import type { AnalyticsModel } from "../platform/modules/AnalyticsModel.ts"

const own = [{ role: "customer", filter: "orders.customer_id = :customerId" }] as const

const Orders: AnalyticsModel = {
  name: "Orders",
  table: "orders",
  measures: {
    count: { type: "count" },
    revenue: { type: "sum", sql: "orders.grand_total" },
    averageOrderValue: { type: "avg", sql: "orders.grand_total" },
    subtotalRevenue: { type: "sum", sql: "orders.subtotal" },
    taxCollected: { type: "sum", sql: "orders.tax_total" },
    shippingRevenue: { type: "sum", sql: "orders.shipping_total" },
    discountsGiven: { type: "sum", sql: "orders.discount_total" },
    uniqueCustomers: { type: "countDistinct", sql: "orders.customer_id" }
  },
  dimensions: {
    id: { sql: "orders.id", type: "string" },
    orderNumber: { sql: "orders.order_number", type: "string" },
    status: { sql: "orders.status", type: "string" },
    currency: { sql: "orders.currency", type: "string" },
    placedAt: { sql: "orders.placed_at", type: "time" }
  },
  scopeRules: own
}

const OrderLineItems: AnalyticsModel = {
  name: "OrderLineItems",
  table: "order_lines",
  // The specification uses a left join, but a foreign key guarantees an order for every line. An inner join lets
  // PostgreSQL start from the orders, whose indexes begin with the organization.
  joins: [{ table: "orders", type: "inner", on: "orders.id = order_lines.order_id", model: "Orders" }],
  measures: {
    count: { type: "count" },
    itemsSold: { type: "sum", sql: "order_lines.quantity" },
    lineItemRevenue: { type: "sum", sql: "order_lines.total_price" },
    averageUnitPrice: { type: "avg", sql: "order_lines.unit_price" }
  },
  dimensions: {
    id: { sql: "order_lines.id", type: "string" },
    entityType: { sql: "order_lines.entity_type", type: "string" },
    sku: { sql: "order_lines.sku", type: "string" },
    title: { sql: "order_lines.title", type: "string" },
    variantTitle: { sql: "order_lines.variant_title", type: "string" },
    fulfillmentStatus: { sql: "order_lines.fulfillment_status", type: "string" }
  },
  scopeRules: own
}

const Tenders: AnalyticsModel = {
  name: "Tenders",
  table: "order_tenders_read",
  joins: [{ table: "orders", type: "inner", on: "orders.id = order_tenders_read.order_id", model: "Orders" }],
  measures: {
    count: { type: "count" },
    amount: { type: "sum", sql: "order_tenders_read.amount" },
    captured: { type: "sum", sql: "order_tenders_read.captured" },
    refunded: { type: "sum", sql: "order_tenders_read.refunded" }
  },
  dimensions: {
    method: { sql: "order_tenders_read.provider", type: "string" },
    isStoredValue: { sql: "order_tenders_read.is_stored_value", type: "boolean" }
  },
  scopeRules: own
}

export const analyticsModels = (): ReadonlyArray<AnalyticsModel> => [Orders, OrderLineItems, Tenders]
