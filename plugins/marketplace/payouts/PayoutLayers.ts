import { Layer } from "effect"
import { Balances } from "../ledger/Balances.ts"
import { AutoDelivery } from "../suborders/AutoDelivery.ts"
import { PayoutEnds } from "./PayoutEnds.ts"
import { PayoutRuns } from "./PayoutRuns.ts"
import { Payouts } from "./Payouts.ts"
import { ScheduledPayouts } from "./ScheduledPayouts.ts"
import { Transfers } from "./Transfers.ts"

/** The services of payouts and balances, over the ledger and the options. */
export const payoutsLayer = Layer.mergeAll(ScheduledPayouts.layer, Payouts.layer, Balances.layer, AutoDelivery.layer)
  .pipe(
    Layer.provideMerge(PayoutRuns.layer),
    Layer.provideMerge(Transfers.layer),
    Layer.provideMerge(PayoutEnds.layer)
  )
