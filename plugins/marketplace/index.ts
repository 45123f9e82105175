import { Effect, Layer } from "effect"
import { definePlugin } from "stoa/plugin"
import { commissionRules } from "./commissions/CommissionTables.ts"
import { Disputes } from "./disputes/Disputes.ts"
import { disputeRoutes } from "./disputes/DisputesHttp.ts"
import { disputes } from "./disputes/DisputeTables.ts"
import { disputeDeadlines } from "./disputes/DisputeTasks.ts"
import { Resolutions } from "./disputes/Resolutions.ts"
import { ledgerEntries, vendorAccounts } from "./ledger/LedgerTables.ts"
import { defaultSettings, MarketplaceOptions, type MarketplaceSettings } from "./MarketplaceOptions.ts"
import { Parties } from "./parties/Parties.ts"
import { payouts } from "./payouts/PayoutTables.ts"
import { Performance } from "./performance/Performance.ts"
import { performanceRoutes } from "./performance/PerformanceHttp.ts"
import { scoreVendors } from "./performance/PerformanceTasks.ts"
import { SubOrderRefunds } from "./refunds/SubOrderRefunds.ts"
import { ReturnRefunds } from "./returns/ReturnRefunds.ts"
import { ReturnRequests } from "./returns/ReturnRequests.ts"
import { Returns } from "./returns/Returns.ts"
import { returnRoutes } from "./returns/ReturnsHttp.ts"
import { ReturnSteps } from "./returns/ReturnSteps.ts"
import { returns } from "./returns/ReturnTables.ts"
import { returnDeadlines } from "./returns/ReturnTasks.ts"
import { Reviews } from "./reviews/Reviews.ts"
import { reviewRoutes } from "./reviews/ReviewsHttp.ts"
import { reviews } from "./reviews/ReviewTables.ts"
import { subOrderLines, subOrders } from "./suborders/SubOrderTables.ts"
import { vendorDocuments, vendorEntities, vendorMembers, vendors, vendorSecrets } from "./vendors/VendorTables.ts"

/** Several vendors sell through one store (contract, plugins §1): `plugins: [marketplace({ … })]`. */
export const marketplace = (options: Partial<MarketplaceSettings> = {}) => {
  const settings: MarketplaceSettings = { ...defaultSettings, ...options }
  const settingsLayer = Layer.succeed(MarketplaceOptions, settings)
  return definePlugin({
    id: "marketplace",
    version: "2.0.0",
    permissions: [
      { scope: "marketplace:admin", description: "Run the marketplace: vendors, commissions, payouts, disputes" },
      { scope: "marketplace:read", description: "See vendors, sub-orders, payouts and disputes" },
      { scope: "marketplace:vendor", description: "Act for the own vendor" }
    ],
    schema: () => [
      vendors,
      vendorSecrets,
      vendorEntities,
      vendorMembers,
      vendorDocuments,
      commissionRules,
      subOrders,
      subOrderLines,
      vendorAccounts,
      ledgerEntries,
      payouts,
      disputes,
      returns,
      reviews
    ],
    events: ["vendor.approved", "suborder.shipped", "payout.completed", "dispute.resolved"],
    layer: Layer.mergeAll(
      Disputes.layer,
      Resolutions.layer,
      ReturnRequests.layer,
      ReturnSteps.layer,
      ReturnRefunds.layer,
      Reviews.layer,
      Performance.layer
    ).pipe(
      Layer.provideMerge(Returns.layer),
      Layer.provideMerge(Layer.mergeAll(Parties.layer, SubOrderRefunds.layer)),
      Layer.provideMerge(settingsLayer)
    ),
    routes: () => [
      ...disputeRoutes,
      ...returnRoutes,
      ...reviewRoutes,
      ...performanceRoutes
    ],
    tasks: () =>
      Effect.all([
        disputeDeadlines,
        returnDeadlines,
        scoreVendors
      ])
  })
}
