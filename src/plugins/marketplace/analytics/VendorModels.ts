import type { AnalyticsModel } from "stoa/plugin"

/** Vendors see only their rows. */
const own = (table: string): NonNullable<AnalyticsModel["scopeRules"]> => [
  { role: "vendor", filter: `${table}.vendor_id = :vendorId::uuid` }
]

const string = (sql: string) => ({ sql, type: "string" as const })

const orders = "marketplace_vendor_sub_orders"
const entries = "marketplace_vendor_balances"
const reviews = "marketplace_vendor_reviews"

/** Figures of the marketplace (contract, plugins §1.8), amounts in minor units of the dimension `currency`. */
export const vendorModels: ReadonlyArray<AnalyticsModel> = [
  {
    name: "VendorOrders",
    table: orders,
    measures: {
      count: { type: "count" },
      revenue: { type: "sum", sql: `${orders}.subtotal` },
      commissionPaid: { type: "sum", sql: `${orders}.commission_amount` },
      netPayout: { type: "sum", sql: `${orders}.payout_amount` }
    },
    dimensions: {
      id: string(`${orders}.id::text`),
      vendorId: string(`${orders}.vendor_id::text`),
      orderId: string(`${orders}.order_id::text`),
      status: string(`${orders}.status`),
      currency: string(`${orders}.currency`),
      createdAt: { sql: `${orders}.created_at`, type: "time" }
    },
    scopeRules: own(orders)
  },
  {
    name: "VendorBalance",
    table: entries,
    measures: {
      totalCredits: { type: "sum", sql: `${entries}.amount_cents`, filter: `${entries}.amount_cents > 0` },
      totalDebits: { type: "sum", sql: `-${entries}.amount_cents`, filter: `${entries}.amount_cents < 0` },
      netBalance: { type: "sum", sql: `${entries}.amount_cents` },
      entryCount: { type: "count" }
    },
    dimensions: {
      id: string(`${entries}.id::text`),
      vendorId: string(`${entries}.vendor_id::text`),
      type: string(`${entries}.type`),
      currency: string(`${entries}.currency`),
      createdAt: { sql: `${entries}.created_at`, type: "time" }
    },
    scopeRules: own(entries)
  },
  {
    name: "VendorReviews",
    table: reviews,
    measures: {
      count: { type: "count" },
      averageRating: { type: "avg", sql: `${reviews}.rating`, decimals: 2 }
    },
    dimensions: {
      id: string(`${reviews}.id::text`),
      vendorId: string(`${reviews}.vendor_id::text`),
      rating: { sql: `${reviews}.rating`, type: "number" },
      status: string(`${reviews}.status`),
      createdAt: { sql: `${reviews}.created_at`, type: "time" }
    },
    scopeRules: own(reviews)
  }
]
