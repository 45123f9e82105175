import { Effect } from "effect"
import { type CurrentActor, defineTask, type Task } from "stoa/plugin"
import { whenOverdue } from "./deadlines/Deadlines.ts"
import { dispute } from "./disputes/Dispute.ts"
import { Market, provided } from "./Market.ts"
import { runScheduled } from "./payouts/PayoutRuns.ts"
import { settleDue } from "./payouts/Transfers.ts"
import { scoreVendors } from "./performance/PerformanceRoutes.ts"
import { returnMachine } from "./returns/Return.ts"
import { deliverOverdue } from "./suborders/SubOrderMoves.ts"

/** Escalates disputes that their vendor left unanswered until the deadline. */
const escalateOverdue = Effect.gen(function*() {
  const { db, settings } = yield* Market
  if (!settings.autoEscalateOnMissedDeadline) return 0
  return yield* whenOverdue(db, "marketplace_disputes", (id) => dispute.move(db, "miss", id))
})

/** Approves returns that their vendor left unanswered until the deadline. Goods are then worth what they cost. */
const approveOverdue = Effect.gen(function*() {
  const { db, settings } = yield* Market
  if (!settings.autoApproveReturnsOnVendorTimeout) return 0
  return yield* whenOverdue(db, "marketplace_return_requests", (id) => returnMachine.move(db, "approve", id))
})

/** The jobs of the marketplace (contract, plugins §1.8). */
export const marketplaceTasks = Effect.map(provided, (provide): ReadonlyArray<Task> => {
  /** A task that gives what it did under `name`. */
  const task = (
    action: string,
    schedule: string,
    name: string,
    work: Effect.Effect<number, never, Market | CurrentActor>,
    everyOrganization = false
  ) =>
    defineTask({
      slug: `marketplace/${action}`,
      schedule,
      ...everyOrganization
        ? { everyOrganization }
        : { concurrency: { key: () => `marketplace/${action}`, supersedes: true } },
      handler: () => Effect.map(provide(work), (count) => ({ output: { [name]: count } }))
    })
  return [
    task("run-payouts", "10 2 * * *", "made", runScheduled, true),
    task("settle-payouts", "* * * * *", "asked", settleDue),
    // Whether money may be paid out is asked of the time at which it becomes available (`OpenEntriesRepo.ts`).
    task("release-holdback", "25 * * * *", "delivered", deliverOverdue, true),
    task("dispute-deadlines", "*/10 * * * *", "escalated", escalateOverdue),
    task("return-deadlines", "*/10 * * * *", "approved", approveOverdue),
    task("score-vendors", "23 3 * * *", "changed", scoreVendors, true)
  ]
})
