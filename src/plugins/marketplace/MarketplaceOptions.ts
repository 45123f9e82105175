import { Context } from "effect"
import type { PayoutAdapter } from "./payouts/PayoutAdapter.ts"

/** What a vendor's figures must not fall below, or exceed, before its score suffers. */
export interface PerformanceThresholds {
  /** Average of published reviews, 1 to 5. Default 3. */
  readonly minRating: number
  /** Percentages of sub-orders. Defaults 5, 10, 5. */
  readonly maxDefectRatePercent: number
  readonly maxLateShipmentRatePercent: number
  readonly maxCancellationRatePercent: number
}

/** What a deployment decides of its marketplace (contract, plugins §1.7). Amounts in minor units. */
export interface MarketplaceSettings {
  /** Share of a sale that the store keeps where no rule and no vendor says otherwise, basis points. Default 1000. */
  readonly defaultCommissionRateBps: number
  /** Smallest payout of new vendors. Default 5000. */
  readonly defaultPayoutMinimumCents: number
  readonly defaultPayoutSchedule: "daily" | "weekly" | "biweekly" | "monthly" | "manual"
  /** Days between delivery and payout of new vendors. Default 7. */
  readonly defaultHoldbackDays: number
  /** `auto`: new vendors are approved; `manual`: an operator approves them. Vendors are made by the store only. Default `manual`. */
  readonly vendorApprovalMode: "manual" | "auto"
  /** Kinds of documents that have to be approved before a vendor is verified. Default none. */
  readonly requiredDocuments: ReadonlyArray<string>
  /** Days a vendor has to answer a dispute. Default 3. */
  readonly vendorResponseDeadlineDays: number
  /** Whether a dispute that a vendor left unanswered is escalated. Default true. */
  readonly autoEscalateOnMissedDeadline: boolean
  /** Days after delivery in which goods may be sent back. Default 30. */
  readonly returnWindowDays: number
  /** Days a vendor has to answer a return, and whether silence is a yes. Defaults 5, false. */
  readonly vendorReturnResponseDays: number
  readonly autoApproveReturnsOnVendorTimeout: boolean
  /** Whether new reviews wait for an operator. Default false. */
  readonly reviewModerationEnabled: boolean
  /** Whether only who bought from a vendor may review it. Default true. */
  readonly requireVerifiedPurchase: boolean
  readonly performanceThresholds: PerformanceThresholds
  /** Days after an order in which its vendor has to have shipped; later counts as late. Default 3. */
  readonly shipWithinDays: number
  /** How payouts leave; without one an operator pays by hand (`manualPayouts`). */
  readonly payoutAdapter?: PayoutAdapter
  /** Milliseconds that the adapter has to answer; after that it is asked again later. Default 20,000. */
  readonly payoutTimeLimitMs: number
  /** Days after which what was shipped counts as delivered; 0: never by itself. Default 14. */
  readonly autoDeliverAfterDays: number
}

export const defaultSettings: MarketplaceSettings = {
  defaultCommissionRateBps: 1000,
  defaultPayoutMinimumCents: 5000,
  defaultPayoutSchedule: "weekly",
  defaultHoldbackDays: 7,
  vendorApprovalMode: "manual",
  requiredDocuments: [],
  vendorResponseDeadlineDays: 3,
  autoEscalateOnMissedDeadline: true,
  returnWindowDays: 30,
  vendorReturnResponseDays: 5,
  autoApproveReturnsOnVendorTimeout: false,
  reviewModerationEnabled: false,
  requireVerifiedPurchase: true,
  shipWithinDays: 3,
  performanceThresholds: {
    minRating: 3,
    maxDefectRatePercent: 5,
    maxLateShipmentRatePercent: 10,
    maxCancellationRatePercent: 5
  },
  payoutTimeLimitMs: 20_000,
  autoDeliverAfterDays: 14
}

/** The settings, for the services of the plugin. */
export class MarketplaceOptions
  extends Context.Service<MarketplaceOptions, MarketplaceSettings>()("stoa/plugins/marketplace/MarketplaceOptions")
{}
