import { Effect, Layer } from "effect"
import { pluginWith } from "stoa/plugin"
import { vendorModels } from "./analytics/VendorModels.ts"
import { commissionModule } from "./commissions/CommissionModule.ts"
import { disputeModule } from "./disputes/DisputeModule.ts"
import { documentModule } from "./documents/DocumentModule.ts"
import { ledgerModule } from "./ledger/LedgerModule.ts"
import { MarketplaceOptions, MarketplaceSettings } from "./MarketplaceOptions.ts"
import { memberModule } from "./members/MemberModule.ts"
import { Parties } from "./parties/Parties.ts"
import { payoutModule } from "./payouts/PayoutModule.ts"
import { performanceModule } from "./performance/PerformanceModule.ts"
import { productModule } from "./products/ProductModule.ts"
import { SubOrderRefunds } from "./refunds/SubOrderRefunds.ts"
import { returnModule } from "./returns/ReturnModule.ts"
import { reviewModule } from "./reviews/ReviewModule.ts"
import { Reconcile } from "./suborders/Reconcile.ts"
import { subOrderModule } from "./suborders/SubOrderModule.ts"
import { vendorModule } from "./vendors/VendorModule.ts"

/** In the order in which their tables refer to one another. */
const modules = [
  vendorModule,
  productModule,
  memberModule,
  documentModule,
  commissionModule,
  subOrderModule,
  ledgerModule,
  payoutModule,
  disputeModule,
  returnModule,
  reviewModule
]

/** Several vendors sell through one store (contract, plugins §1): `plugins: [marketplace({ … })]`. */
export const marketplace = pluginWith("marketplace", MarketplaceSettings, (settings) => ({
  version: "2.0.0",
  permissions: [
    { scope: "marketplace:admin", description: "Run the marketplace: vendors, commissions, payouts, disputes" },
    { scope: "marketplace:read", description: "See vendors, sub-orders, payouts and disputes" },
    { scope: "marketplace:vendor", description: "Act for the own vendor" }
  ],
  migrations: memberModule.migrations,
  schema: () => modules.map(({ tables }) => tables).flat(),
  events: ["vendor.approved", "suborder.shipped", "payout.completed", "dispute.resolved"],
  layer: Layer.mergeAll(
    vendorModule.layer,
    productModule.layer,
    memberModule.layer,
    documentModule.layer,
    subOrderModule.layer,
    payoutModule.layer,
    disputeModule.layer,
    returnModule.layer,
    reviewModule.layer,
    performanceModule.layer
  ).pipe(
    Layer.provideMerge(
      Layer.mergeAll(commissionModule.layer, ledgerModule.layer, Parties.layer, SubOrderRefunds.layer)
    ),
    Layer.provideMerge(Layer.succeed(MarketplaceOptions, settings))
  ),
  hooks: ({ db }) => Effect.map(productModule.hooks, (hooks) => [...hooks, ...subOrderModule.hooks(db)]),
  routes: () => [...modules, performanceModule].map(({ routes }) => routes).flat(),
  analyticsModels: () => vendorModels,
  tasks: () =>
    Effect.map(
      Effect.all([
        payoutModule.tasks,
        subOrderModule.tasks,
        disputeModule.tasks,
        returnModule.tasks,
        performanceModule.tasks
      ]),
      (tasks) => tasks.flat()
    ),
  orderProjection: () => Reconcile
}))
