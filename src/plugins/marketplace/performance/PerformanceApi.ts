import { Schema } from "effect"
import { amount, group, Uuid } from "stoa/plugin"
import { portal } from "../parties/VendorPortal.ts"
import { tiers } from "../vendors/VendorTables.ts"

const Rating = Schema.Struct({
  average: Schema.Number.annotate({ description: "Of the published reviews, to one decimal; 0 without any." }),
  count: Schema.Int
})

const balance = {
  balanceCents: amount.schema.annotate({ description: "In the store's default currency, minor units." }),
  balances: Schema.Array(Schema.Struct({ currency: Schema.String, balanceCents: amount.schema }))
}

/** What a vendor sees of its performance. */
export const VendorAnalytics = Schema.Struct({ rating: Rating, ...balance })
export type VendorAnalytics = typeof VendorAnalytics.Type

/** How a vendor does. `rates` are percentages of the sub-orders of the last 90 days, of which there are so many. */
export const VendorPerformance = Schema.Struct({
  vendorId: Uuid,
  performanceScore: Schema.Int,
  tier: Schema.Literals(tiers),
  rating: Rating,
  rates: Schema.Struct({
    subOrders: Schema.Int,
    lateShipmentPercent: Schema.Number,
    cancellationPercent: Schema.Number,
    defectPercent: Schema.Number
  }),
  ...balance
})
export type VendorPerformance = typeof VendorPerformance.Type

const g = group("Marketplace performance", "/marketplace")

export const readPerformance = g.get("/vendors/:id/performance", {
  permission: "marketplace:admin",
  summary: "Score, rating and balance of a vendor",
  success: VendorPerformance
})

export const readAnalytics = g.get("/vendor/me/analytics", {
  ...portal,
  summary: "Rating and balance of the own vendor",
  success: VendorAnalytics
})
