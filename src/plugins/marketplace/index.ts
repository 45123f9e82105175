import { pluginWith, rowIn } from "stoa/plugin"
import { vendorModels } from "./analytics/VendorModels.ts"
import { commissionRoutes } from "./commissions/CommissionRoutes.ts"
import { commissionRules } from "./commissions/CommissionRule.ts"
import { disputes } from "./disputes/Dispute.ts"
import { disputeRoutes } from "./disputes/Disputes.ts"
import { documentRoutes, vendorDocuments } from "./documents/VendorDocuments.ts"
import { adjustments, ledgerEntries, vendorAccounts } from "./ledger/Ledger.ts"
import { ledgerRoutes } from "./ledger/LedgerRoutes.ts"
import { Market } from "./Market.ts"
import { MarketplaceSettings } from "./MarketplaceOptions.ts"
import { memberMigrations } from "./members/migrations.ts"
import { memberRoutes, vendorMembers } from "./members/VendorMembers.ts"
import { payoutPeriods, payouts } from "./payouts/Payout.ts"
import { payoutRoutes } from "./payouts/PayoutRuns.ts"
import { performanceRoutes } from "./performance/PerformanceRoutes.ts"
import { productHooks } from "./products/ProductHooks.ts"
import { vendorEntities } from "./products/VendorProduct.ts"
import { productRoutes } from "./products/VendorProducts.ts"
import { onCoreReturn } from "./returns/CoreReturns.ts"
import { returns } from "./returns/Return.ts"
import { returnRoutes } from "./returns/Returns.ts"
import { reviewRoutes, reviews } from "./reviews/Reviews.ts"
import { subOrderProjection } from "./suborders/Reconcile.ts"
import { subOrderLines, subOrders } from "./suborders/SubOrder.ts"
import { subOrderRoutes } from "./suborders/SubOrderRoutes.ts"
import { subOrderHooks } from "./suborders/SubOrders.ts"
import { marketplaceTasks } from "./Tasks.ts"
import { vendors, vendorSecrets } from "./vendors/Vendor.ts"
import { vendorRoutes } from "./vendors/Vendors.ts"

/** Several vendors sell through one store (contract, plugins §1): `plugins: [marketplace({ … })]`. */
export const marketplace = pluginWith("marketplace", MarketplaceSettings, (settings) => ({
  version: "2.0.0",
  examples: new URL("./examples.json", import.meta.url),
  permissions: [
    { scope: "marketplace:admin", description: "Run the marketplace: vendors, commissions, payouts, disputes" },
    { scope: "marketplace:read", description: "See vendors, sub-orders, payouts and disputes" },
    { scope: "marketplace:vendor", description: "Act for the own vendor" }
  ],
  migrations: memberMigrations,
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
    adjustments,
    payouts,
    payoutPeriods,
    disputes,
    returns,
    reviews
  ],
  events: ["vendor.approved", "suborder.shipped", "payout.completed", "dispute.resolved"],
  layer: Market.layer(settings),
  hooks: () => [...productHooks, ...subOrderHooks],
  onEvents: {
    "returns.update": { handler: onCoreReturn, only: { rowsIn: [rowIn(returns, { column: "coreReturnId" })] } }
  },
  routes: () => [
    ...vendorRoutes,
    ...productRoutes,
    ...memberRoutes,
    ...documentRoutes,
    ...commissionRoutes,
    ...subOrderRoutes,
    ...ledgerRoutes,
    ...payoutRoutes,
    ...disputeRoutes,
    ...returnRoutes,
    ...reviewRoutes,
    ...performanceRoutes
  ],
  analyticsModels: () => vendorModels,
  tasks: (context) => marketplaceTasks(context, settings),
  orderProjection: () => subOrderProjection
}))
