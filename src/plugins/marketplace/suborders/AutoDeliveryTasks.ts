import { Effect } from "effect"
import { defineTask } from "stoa/plugin"
import { AutoDelivery } from "./AutoDelivery.ts"

const slug = "marketplace/release-holdback"

/**
 * Every hour: lets the holdback of what was shipped long ago begin. It ends by itself, because whether money may be paid out
 * is asked of the time at which it becomes available (`OpenEntriesRepo.ts`).
 */
export const autoDeliveryTasks = Effect.map(AutoDelivery, ({ deliverOverdue }) => [
  defineTask({
    slug,
    schedule: "25 * * * *",
    concurrency: { key: () => slug, supersedes: true },
    handler: () => Effect.map(deliverOverdue, (delivered) => ({ output: { delivered } }))
  })
])
