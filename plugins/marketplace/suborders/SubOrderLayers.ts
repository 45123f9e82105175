import { Layer } from "effect"
import { CommissionRules } from "../commissions/CommissionRules.ts"
import { Commissions } from "../commissions/Commissions.ts"
import { Ledger } from "../ledger/Ledger.ts"
import { Reconcile } from "./Reconcile.ts"
import { SubOrderCancels } from "./SubOrderCancels.ts"
import { SubOrders } from "./SubOrders.ts"

/** The services of sub-orders, commissions and the ledger. */
export const subOrdersLayer = SubOrderCancels.layer.pipe(
  Layer.provideMerge(Layer.mergeAll(Reconcile.layer, SubOrders.layer)),
  Layer.provideMerge(Layer.mergeAll(Commissions.layer, CommissionRules.layer, Ledger.layer))
)
