import { Effect } from "effect"
import { defineTask } from "stoa/plugin"
import { MarketplaceOptions } from "../MarketplaceOptions.ts"
import { ReturnSteps } from "./ReturnSteps.ts"

/**
 * Task `marketplace/return-deadlines` (contract, plugins §1.8): every ten minutes, returns of all organizations that their
 * vendor left unanswered until the deadline are approved, where `autoApproveReturnsOnVendorTimeout` takes silence for a
 * yes. Goods are then worth what they cost.
 */
export const returnTasks = Effect.gen(function*() {
  const { approveOverdue } = yield* ReturnSteps
  const { autoApproveReturnsOnVendorTimeout } = yield* MarketplaceOptions
  return [defineTask({
    slug: "marketplace/return-deadlines",
    schedule: "*/10 * * * *",
    concurrency: { key: () => "marketplace/return-deadlines", supersedes: true },
    handler: Effect.fnUntraced(function*() {
      return { output: { approved: autoApproveReturnsOnVendorTimeout ? yield* approveOverdue : 0 } }
    })
  })]
})
