import { Effect } from "effect"
import { type CurrentActor, defineTask, dueTask, type PluginContext, type PluginTask } from "stoa/plugin"
import { dispute, disputes } from "./disputes/Dispute.ts"
import type { Market } from "./Market.ts"
import type { MarketplaceSettings } from "./MarketplaceOptions.ts"
import { runScheduled } from "./payouts/PayoutRuns.ts"
import { settleDue } from "./payouts/Transfers.ts"
import { scoreVendors } from "./performance/PerformanceRoutes.ts"
import { returns } from "./returns/Return.ts"
import { approveDue } from "./returns/Returns.ts"
import { deliverOverdue } from "./suborders/SubOrderMoves.ts"

/** Which rows a vendor has left unanswered until the deadline; none where the deployment decides nothing by itself. */
const missed = <Status extends string>(isDecided: boolean, status: Status) => (now: Date) =>
  isDecided ? { status, deadlineAt: { lt: now } } : { or: [] }

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
    handler: () => Effect.map(work, (count) => ({ output: { [name]: count } }))
  })

/** The jobs of the marketplace (contract, plugins §1.8). */
export const marketplaceTasks = (
  context: PluginContext,
  settings: MarketplaceSettings
): ReadonlyArray<PluginTask<Market>> => [
  task("run-payouts", "10 2 * * *", "made", runScheduled, true),
  task("settle-payouts", "* * * * *", "asked", settleDue),
  // Whether money may be paid out is asked of the time at which it becomes available (`BalanceRepo.ts`).
  task("release-holdback", "25 * * * *", "delivered", deliverOverdue, true),
  dueTask(context, {
    slug: "marketplace/dispute-deadlines",
    schedule: "*/10 * * * *",
    of: disputes,
    where: missed(settings.autoEscalateOnMissedDeadline, "vendor_response_pending"),
    each: ({ id }, { db }) => db.use(dispute).move("escalate", id)
  }),
  dueTask(context, {
    slug: "marketplace/return-deadlines",
    schedule: "*/10 * * * *",
    of: returns,
    where: missed(settings.autoApproveReturnsOnVendorTimeout, "requested"),
    each: approveDue
  }),
  task("score-vendors", "23 3 * * *", "changed", scoreVendors, true)
]
