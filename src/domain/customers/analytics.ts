import type { AnalyticsModel } from "../platform/modules/AnalyticsModel.ts"

/** Rows of erased customers stay for their orders. */
const isThere = "customers.erased_at is null"

/** The search stops at the second order in the index. */
const isReturning = `exists (select 1 from orders_read o where o.organization_id = customers.organization_id
  and o.customer_id = customers.id offset 1)`

const Customers: AnalyticsModel = {
  name: "Customers",
  table: "customers",
  measures: {
    customerCount: { type: "count", filter: isThere },
    newCustomers: { type: "count", filter: isThere },
    returningCustomers: { type: "count", filter: `${isThere} and ${isReturning}` }
  },
  dimensions: {
    createdAt: { sql: "customers.created_at", type: "time" },
    customerGroup: { sql: "customers.metadata->>'customerGroup'", type: "string" }
  },
  segments: { returning: { sql: isReturning } },
  scopeRules: [{ role: "customer", filter: "customers.id = :customerId" }]
}

export const analyticsModels = (): ReadonlyArray<AnalyticsModel> => [Customers]
