import { Effect } from "effect"
import { defineTask } from "../../domain/jobs/Task.ts"
import { StaleOrderRepo } from "../../domain/orders/StaleOrderRepo.ts"
import { StoreSettings } from "../../domain/settings/StoreSettings.ts"
import { UnpaidCancellation } from "./UnpaidCancellation.ts"

/** Orders per page. */
const atOnce = 100

const first = "00000000-0000-0000-0000-000000000000"

/**
 * Task `orders/stale-cleanup` (contract §4.4): every hour, cancels pending orders unpaid for `orders.staleHours`.
 * `UnconfirmedOrders` ends those that wait for a payment confirmation, and drafts never expire. Each order is tried
 * once per run, so that one that cannot be cancelled does not keep the run going forever.
 */
export const staleCleanup = Effect.gen(function*() {
  const repo = yield* StaleOrderRepo
  const unpaid = yield* UnpaidCancellation
  const { staleOrderHours } = yield* StoreSettings
  return defineTask({
    slug: "orders/stale-cleanup",
    schedule: "7 * * * *",
    concurrency: { key: () => "orders/stale-cleanup", supersedes: true },
    handler: Effect.fnUntraced(function*() {
      let cancelledCount = 0
      for (let after: string | undefined = staleOrderHours === 0 ? undefined : first; after !== undefined;) {
        const due: Effect.Success<ReturnType<typeof repo.older>> = yield* repo.older(staleOrderHours, after, atOnce)
        cancelledCount += yield* unpaid.cancelAll(due, "not_paid")
        after = due.length === atOnce ? due.at(-1)?.orderId : undefined
      }
      return { output: { cancelledCount } }
    })
  })
})
