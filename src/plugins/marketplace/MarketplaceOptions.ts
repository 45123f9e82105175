import { Schema } from "effect"
import { option } from "stoa/plugin"
import type { PayoutAdapter } from "./payouts/PayoutAdapter.ts"
import { vendors } from "./vendors/Vendor.ts"

const count = Schema.Int.check(Schema.isGreaterThanOrEqualTo(0))
const flag = Schema.Boolean
const between = (minimum: number, maximum: number) => Schema.Finite.check(Schema.isBetween({ minimum, maximum }))

/** What a vendor's figures must not fall below, or exceed, before its score suffers. */
const PerformanceThresholds = Schema.Struct({
  minRating: option(between(1, 5), { default: 3, description: "Average of published reviews" }),
  maxDefectRatePercent: option(between(0, 100), { default: 5, description: "Share of sub-orders with a defect" }),
  maxLateShipmentRatePercent: option(between(0, 100), {
    default: 10,
    description: "Share of sub-orders that were shipped late"
  }),
  maxCancellationRatePercent: option(between(0, 100), {
    default: 5,
    description: "Share of sub-orders that were cancelled"
  })
})
export type PerformanceThresholds = typeof PerformanceThresholds.Type

/** What a deployment decides of its marketplace (contract, plugins §1.7). Amounts in minor units. */
export const MarketplaceSettings = Schema.Struct({
  defaultCommissionRateBps: option(vendors.columns.commissionRateBps.schema, {
    default: 1000,
    description: "Share of a sale that the store keeps where no rule and no vendor says otherwise, in basis points"
  }),
  defaultPayoutMinimumCents: option(count, {
    default: 5000,
    description: "Smallest payout of new vendors, in minor units"
  }),
  defaultPayoutSchedule: option(vendors.columns.payoutSchedule.schema, {
    default: "weekly",
    description: "When new vendors are paid"
  }),
  defaultHoldbackDays: option(count, { default: 7, description: "Days between delivery and payout of new vendors" }),
  vendorApprovalMode: option(Schema.Literals(["manual", "auto"]), {
    default: "manual",
    description:
      "`auto`: new vendors are approved; `manual`: an operator approves them. Vendors are made by the store only"
  }),
  requiredDocuments: option(Schema.Array(Schema.String), {
    default: [],
    description: "Kinds of documents that have to be approved before a vendor is verified"
  }),
  vendorResponseDeadlineDays: option(count, { default: 3, description: "Days a vendor has to answer a dispute" }),
  autoEscalateOnMissedDeadline: option(flag, {
    default: true,
    description: "Whether a dispute that a vendor left unanswered is escalated"
  }),
  returnWindowDays: option(count, { default: 30, description: "Days after delivery in which goods may be sent back" }),
  vendorReturnResponseDays: option(count, { default: 5, description: "Days a vendor has to answer a return" }),
  autoApproveReturnsOnVendorTimeout: option(flag, {
    default: false,
    description: "Whether a vendor's silence on a return is a yes"
  }),
  reviewModerationEnabled: option(flag, { default: false, description: "Whether new reviews wait for an operator" }),
  requireVerifiedPurchase: option(flag, {
    default: true,
    description: "Whether only who bought from a vendor may review it"
  }),
  performanceThresholds: option(PerformanceThresholds, {
    default: {},
    description: "`minRating` (3), `maxDefectRatePercent` (5), " +
      "`maxLateShipmentRatePercent` (10), `maxCancellationRatePercent` (5): beyond them a vendor's score suffers"
  }),
  shipWithinDays: option(count, {
    default: 3,
    description: "Days after an order in which its vendor has to have shipped; later counts as late"
  }),
  payoutAdapter: option<PayoutAdapter>({ description: "How payouts leave; without one an operator pays by hand" }),
  payoutTimeLimitMs: option(Schema.Int.check(Schema.isGreaterThanOrEqualTo(1)), {
    default: 20_000,
    description: "Milliseconds that the adapter has to answer; after that it is asked again later"
  }),
  autoDeliverAfterDays: option(count, {
    default: 14,
    description: "Days after which what was shipped counts as delivered; 0: never by itself"
  })
})
export type MarketplaceSettings = typeof MarketplaceSettings.Type
