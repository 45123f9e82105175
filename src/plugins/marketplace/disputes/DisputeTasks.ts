import { Effect } from "effect"
import { defineTask } from "stoa/plugin"
import { MarketplaceOptions } from "../MarketplaceOptions.ts"
import { Disputes } from "./Disputes.ts"

/**
 * Task `marketplace/dispute-deadlines` (contract, plugins §1.8): every ten minutes, disputes of all organizations that
 * their vendor left unanswered until the deadline are escalated, unless `autoEscalateOnMissedDeadline` is off.
 */
export const disputeTasks = Effect.gen(function*() {
  const { escalateOverdue } = yield* Disputes
  const { autoEscalateOnMissedDeadline } = yield* MarketplaceOptions
  return [defineTask({
    slug: "marketplace/dispute-deadlines",
    schedule: "*/10 * * * *",
    concurrency: { key: () => "marketplace/dispute-deadlines", supersedes: true },
    handler: Effect.fnUntraced(function*() {
      return { output: { escalated: autoEscalateOnMissedDeadline ? yield* escalateOverdue : 0 } }
    })
  })]
})
