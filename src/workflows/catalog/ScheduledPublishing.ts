import { Effect } from "effect"
import { Schedules } from "../../domain/catalog/schedules/Schedules.ts"
import { defineTask } from "../../domain/jobs/Task.ts"

const slug = "catalog/publish-due"

/**
 * The task `catalog/publish-due`: publishes and archives what has its time come, every minute. What came due while nothing
 * ran is due at the first tick after it. Two never run at once; if two did, each change would still be made once
 * (`Schedules`).
 */
export const publishDue = Effect.map(Schedules, (schedules) =>
  defineTask({
    slug,
    schedule: "* * * * *",
    concurrency: { key: () => slug, supersedes: true },
    handler: () => Effect.map(schedules.runDue, (changed) => ({ output: { changed } }))
  }))
