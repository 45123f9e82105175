import { Effect, Layer } from "effect"
import { definePlugin } from "stoa/plugin"
import { vendorModels } from "./analytics/VendorModels.ts"
import { commissionRoom } from "./commissions/CommissionRoom.ts"
import { disputeRoom } from "./disputes/DisputeRoom.ts"
import { documentRoom } from "./documents/DocumentRoom.ts"
import { ledgerRoom } from "./ledger/LedgerRoom.ts"
import { defaultSettings, MarketplaceOptions, type MarketplaceSettings } from "./MarketplaceOptions.ts"
import { memberRoom } from "./members/MemberRoom.ts"
import { Parties } from "./parties/Parties.ts"
import { payoutRoom } from "./payouts/PayoutRoom.ts"
import { performanceRoom } from "./performance/PerformanceRoom.ts"
import { productRoom } from "./products/ProductRoom.ts"
import { SubOrderRefunds } from "./refunds/SubOrderRefunds.ts"
import { returnRoom } from "./returns/ReturnRoom.ts"
import { reviewRoom } from "./reviews/ReviewRoom.ts"
import { Reconcile } from "./suborders/Reconcile.ts"
import { subOrderRoom } from "./suborders/SubOrderRoom.ts"
import { vendorRoom } from "./vendors/VendorRoom.ts"

/** In the order in which their tables refer to one another. */
const rooms = [
  vendorRoom,
  productRoom,
  memberRoom,
  documentRoom,
  commissionRoom,
  subOrderRoom,
  ledgerRoom,
  payoutRoom,
  disputeRoom,
  returnRoom,
  reviewRoom
]

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
    migrations: memberRoom.migrations,
    schema: () => rooms.map(({ tables }) => tables).flat(),
    events: ["vendor.approved", "suborder.shipped", "payout.completed", "dispute.resolved"],
    layer: Layer.mergeAll(
      vendorRoom.layer,
      productRoom.layer,
      memberRoom.layer,
      documentRoom.layer,
      subOrderRoom.layer,
      payoutRoom.layer,
      disputeRoom.layer,
      returnRoom.layer,
      reviewRoom.layer,
      performanceRoom.layer
    ).pipe(
      Layer.provideMerge(Layer.mergeAll(commissionRoom.layer, ledgerRoom.layer, Parties.layer, SubOrderRefunds.layer)),
      Layer.provideMerge(Layer.succeed(MarketplaceOptions, settings))
    ),
    hooks: ({ db }) => Effect.map(productRoom.hooks, (hooks) => [...hooks, ...subOrderRoom.hooks(db)]),
    routes: () => [...rooms, performanceRoom].map(({ routes }) => routes).flat(),
    analyticsModels: () => vendorModels,
    tasks: () =>
      Effect.map(
        Effect.all([payoutRoom.tasks, subOrderRoom.tasks, disputeRoom.tasks, returnRoom.tasks, performanceRoom.tasks]),
        (tasks) => tasks.flat()
      ),
    followsOrders: () => Reconcile
  })
}
