import { type AnalyticsModel, modelOf } from "stoa/plugin"
import { ledgerEntries } from "../ledger/Ledger.ts"
import { reviews } from "../reviews/Reviews.ts"
import { subOrders } from "../suborders/SubOrder.ts"

const sum = (sql: string, filter?: string) => ({ type: "sum" as const, sql, ...filter !== undefined && { filter } })
const count = { type: "count" as const }
/** Vendors see only their rows. */
const scope = { vendor: "vendorId" } as const

const { name: orders } = subOrders
const amount = `${ledgerEntries.name}.amount_cents`

/** Figures of the marketplace (contract, plugins §1.8), amounts in minor units of the dimension `currency`. */
export const vendorModels: ReadonlyArray<AnalyticsModel> = [
  {
    ...modelOf(subOrders, {
      name: "VendorOrders",
      dims: ["id", "vendorId", "orderId", "status", "currency", "createdAt"],
      scope
    }),
    measures: {
      count,
      revenue: sum(`${orders}.subtotal`),
      commissionPaid: sum(`${orders}.commission_amount`),
      netPayout: sum(`${orders}.payout_amount`)
    }
  },
  {
    ...modelOf(ledgerEntries, {
      name: "VendorBalance",
      dims: ["id", "vendorId", "type", "currency", "createdAt"],
      scope
    }),
    measures: {
      totalCredits: sum(amount, `${amount} > 0`),
      totalDebits: sum(`-${amount}`, `${amount} < 0`),
      netBalance: sum(amount),
      entryCount: count
    }
  },
  {
    ...modelOf(reviews, { name: "VendorReviews", dims: ["id", "vendorId", "rating", "status", "createdAt"], scope }),
    measures: { count, averageRating: { type: "avg", sql: `${reviews.name}.rating`, decimals: 2 } }
  }
]
