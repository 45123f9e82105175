import type { AnalyticsModel } from "../platform/modules/AnalyticsModel.ts"

const Returns: AnalyticsModel = {
  name: "Returns",
  table: "order_return_lines_read",
  joins: [{
    table: "orders",
    type: "inner",
    on: "orders.id = order_return_lines_read.order_id",
    model: "Orders"
  }],
  measures: {
    count: { type: "countDistinct", sql: "order_return_lines_read.return_id" },
    unitsRequested: { type: "sum", sql: "order_return_lines_read.quantity" },
    unitsReceived: { type: "sum", sql: "order_return_lines_read.received_quantity" }
  },
  dimensions: {
    status: { sql: "order_return_lines_read.status", type: "string" },
    requestedAt: { sql: "order_return_lines_read.requested_at", type: "time" }
  },
  scopeRules: [{ role: "customer", filter: "orders.customer_id = :customerId" }]
}

export const analyticsModels = (): ReadonlyArray<AnalyticsModel> => [Returns]
