import { Layer } from "effect"
import { AutoDelivery } from "./AutoDelivery.ts"
import { autoDeliveryTasks } from "./AutoDeliveryTasks.ts"
import { Parcels } from "./Parcels.ts"
import { Reconcile } from "./Reconcile.ts"
import { SubOrderCancels } from "./SubOrderCancels.ts"
import { subOrderHooks } from "./SubOrderHooks.ts"
import { SubOrderMoves } from "./SubOrderMoves.ts"
import { SubOrders } from "./SubOrders.ts"
import { subOrderRoutes } from "./SubOrdersHttp.ts"
import { subOrderLines, subOrders } from "./SubOrderTables.ts"

/** Vendors' parts of orders. */
export const subOrderModule = {
  tables: [subOrders, subOrderLines],
  layer: Layer.mergeAll(SubOrderCancels.layer, AutoDelivery.layer).pipe(
    Layer.provideMerge(SubOrderMoves.layer),
    Layer.provideMerge(Layer.mergeAll(Parcels.layer, Reconcile.layer, SubOrders.layer))
  ),
  routes: subOrderRoutes,
  hooks: subOrderHooks,
  tasks: autoDeliveryTasks
}
