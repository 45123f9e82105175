import { Layer } from "effect"
import { PayoutEnds } from "./PayoutEnds.ts"
import { PayoutRuns } from "./PayoutRuns.ts"
import { Payouts } from "./Payouts.ts"
import { payoutRoutes } from "./PayoutsHttp.ts"
import { payoutPeriods, payouts } from "./PayoutTables.ts"
import { payoutTasks } from "./PayoutTasks.ts"
import { ScheduledPayouts } from "./ScheduledPayouts.ts"
import { Transfers } from "./Transfers.ts"

/** Money that leaves for vendors. */
export const payoutModule = {
  tables: [payouts, payoutPeriods],
  layer: Layer.mergeAll(ScheduledPayouts.layer, Payouts.layer).pipe(
    Layer.provideMerge(PayoutRuns.layer),
    Layer.provideMerge(Transfers.layer),
    Layer.provideMerge(PayoutEnds.layer)
  ),
  routes: payoutRoutes,
  tasks: payoutTasks
}
