import { Effect } from "effect"
import { defineTask } from "stoa/plugin"
import { ScheduledPayouts } from "./ScheduledPayouts.ts"
import { Transfers } from "./Transfers.ts"

const runSlug = "marketplace/run-payouts"
const settleSlug = "marketplace/settle-payouts"

/** Pays vendors by their schedules, every day at 02:10 UTC. */
const runTask = Effect.map(ScheduledPayouts, ({ runDue }) =>
  defineTask({
    slug: runSlug,
    schedule: "10 2 * * *",
    concurrency: { key: () => runSlug, supersedes: true },
    handler: () => Effect.map(runDue, (made) => ({ output: { made } }))
  }))

/** Asks the adapter every minute for payouts without an outcome. */
const settleTask = Effect.map(Transfers, ({ settleDue }) =>
  defineTask({
    slug: settleSlug,
    schedule: "* * * * *",
    concurrency: { key: () => settleSlug, supersedes: true },
    handler: () => Effect.map(settleDue, (asked) => ({ output: { asked } }))
  }))

export const payoutTasks = Effect.all([runTask, settleTask])
