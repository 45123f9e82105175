import { Schema } from "effect"
import { code, option, setting } from "stoa/plugin"
import type { PayoutAdapter } from "./payouts/PayoutAdapter.ts"
import { vendors } from "./vendors/Vendor.ts"

const count = Schema.Int.check(Schema.isGreaterThanOrEqualTo(0))
const flag = Schema.Boolean
const between = (minimum: number, maximum: number) => Schema.Finite.check(Schema.isBetween({ minimum, maximum }))

/** What a vendor's figures must not fall below, or exceed, before its score suffers. */
const PerformanceThresholds = Schema.Struct({
  minRating: setting(between(1, 5), 3, "Average of published reviews"),
  maxDefectRatePercent: setting(between(0, 100), 5, "Share of sub-orders with a defect"),
  maxLateShipmentRatePercent: setting(between(0, 100), 10, "Share of sub-orders that were shipped late"),
  maxCancellationRatePercent: setting(between(0, 100), 5, "Share of sub-orders that were cancelled")
})
export type PerformanceThresholds = typeof PerformanceThresholds.Type

/** What a deployment decides of its marketplace (contract, plugins §1.7). Amounts in minor units. */
export const MarketplaceSettings = Schema.Struct({
  defaultCommissionRateBps: setting(
    vendors.columns.commissionRateBps.schema,
    1000,
    "Share of a sale that the store keeps where no rule and no vendor says otherwise, in basis points"
  ),
  defaultPayoutMinimumCents: setting(count, 5000, "Smallest payout of new vendors, in minor units"),
  defaultPayoutSchedule: setting(vendors.columns.payoutSchedule.schema, "weekly", "When new vendors are paid"),
  defaultHoldbackDays: setting(count, 7, "Days between delivery and payout of new vendors"),
  vendorApprovalMode: setting(
    Schema.Literals(["manual", "auto"]),
    "manual",
    "`auto`: new vendors are approved; `manual`: an operator approves them. Vendors are made by the store only"
  ),
  requiredDocuments: setting(
    Schema.Array(Schema.String),
    [],
    "Kinds of documents that have to be approved before a vendor is verified"
  ),
  vendorResponseDeadlineDays: setting(count, 3, "Days a vendor has to answer a dispute"),
  autoEscalateOnMissedDeadline: setting(flag, true, "Whether a dispute that a vendor left unanswered is escalated"),
  returnWindowDays: setting(count, 30, "Days after delivery in which goods may be sent back"),
  vendorReturnResponseDays: setting(count, 5, "Days a vendor has to answer a return"),
  autoApproveReturnsOnVendorTimeout: setting(flag, false, "Whether a vendor's silence on a return is a yes"),
  reviewModerationEnabled: setting(flag, false, "Whether new reviews wait for an operator"),
  requireVerifiedPurchase: setting(flag, true, "Whether only who bought from a vendor may review it"),
  performanceThresholds: setting(
    PerformanceThresholds,
    {},
    "`minRating` (3), `maxDefectRatePercent` (5), " +
      "`maxLateShipmentRatePercent` (10), `maxCancellationRatePercent` (5): beyond them a vendor's score suffers"
  ),
  shipWithinDays: setting(
    count,
    3,
    "Days after an order in which its vendor has to have shipped; later counts as late"
  ),
  payoutAdapter: option(code<PayoutAdapter>(), "How payouts leave; without one an operator pays by hand"),
  payoutTimeLimitMs: setting(
    Schema.Int.check(Schema.isGreaterThanOrEqualTo(1)),
    20_000,
    "Milliseconds that the adapter has to answer; after that it is asked again later"
  ),
  autoDeliverAfterDays: setting(count, 14, "Days after which what was shipped counts as delivered; 0: never by itself")
})
export type MarketplaceSettings = typeof MarketplaceSettings.Type
