import { Effect, Layer } from "effect"
import { definePlugin } from "stoa/plugin"
import { afterSalesLayer, afterSalesRoutes, afterSalesTasks } from "./AfterSales.ts"
import { vendorModels } from "./analytics/VendorModels.ts"
import { commissionRoutes } from "./commissions/CommissionRulesHttp.ts"
import { commissionRules } from "./commissions/CommissionTables.ts"
import { disputes } from "./disputes/DisputeTables.ts"
import { balanceRoutes } from "./ledger/BalancesHttp.ts"
import { ledgerEntries, vendorAccounts } from "./ledger/LedgerTables.ts"
import { defaultSettings, MarketplaceOptions, type MarketplaceSettings } from "./MarketplaceOptions.ts"
import { payoutsLayer } from "./payouts/PayoutLayers.ts"
import { payoutRoutes } from "./payouts/PayoutsHttp.ts"
import { payoutPeriods, payouts } from "./payouts/PayoutTables.ts"
import { payoutTasks } from "./payouts/PayoutTasks.ts"
import { returns } from "./returns/ReturnTables.ts"
import { reviews } from "./reviews/ReviewTables.ts"
import { autoDeliveryTasks } from "./suborders/AutoDeliveryTasks.ts"
import { Reconcile } from "./suborders/Reconcile.ts"
import { subOrderHooks } from "./suborders/SubOrderHooks.ts"
import { subOrdersLayer } from "./suborders/SubOrderLayers.ts"
import { subOrderRoutes } from "./suborders/SubOrdersHttp.ts"
import { subOrderLines, subOrders } from "./suborders/SubOrderTables.ts"
import { vendorHooks } from "./vendors/VendorHooks.ts"
import { allVendorRoutes, vendorsLayer } from "./vendors/VendorRoom.ts"
import { vendorDocuments, vendorEntities, vendorMembers, vendors, vendorSecrets } from "./vendors/VendorTables.ts"

/** Several vendors sell through one store (contract, plugins §1): `plugins: [marketplace({ … })]`. */
export const marketplace = (options: Partial<MarketplaceSettings> = {}) => {
  const settings: MarketplaceSettings = { ...defaultSettings, ...options }
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
      payoutPeriods,
      disputes,
      returns,
      reviews
    ],
    events: ["vendor.approved", "suborder.shipped", "payout.completed", "dispute.resolved"],
    layer: Layer.mergeAll(payoutsLayer, afterSalesLayer).pipe(
      Layer.provideMerge(Layer.mergeAll(vendorsLayer, subOrdersLayer)),
      Layer.provideMerge(Layer.succeed(MarketplaceOptions, settings))
    ),
    hooks: ({ db }) => Effect.map(vendorHooks, (ofVendors) => [...ofVendors, ...subOrderHooks(db)]),
    routes: () => [
      ...allVendorRoutes,
      ...commissionRoutes,
      ...subOrderRoutes,
      ...balanceRoutes,
      ...payoutRoutes,
      ...afterSalesRoutes
    ],
    analyticsModels: () => vendorModels,
    tasks: () => Effect.map(Effect.all([payoutTasks, autoDeliveryTasks, afterSalesTasks]), (tasks) => tasks.flat()),
    followsOrders: () => Effect.map(Reconcile, ({ orders }) => orders)
  })
}
