import { Effect } from "effect"
import { Schedules } from "../../domain/catalog/schedules/Schedules.ts"
import { defineTask } from "../../domain/platform/tasks/Task.ts"

const slug = "catalog/publish-due"

/**
 * Publishes and archives due entities every minute. Overlapping runs are safe: each change happens once (`Schedules`).
 */
export const publishDue = Effect.map(Schedules, (schedules) =>
  defineTask({
    slug,
    schedule: "* * * * *",
    concurrency: { key: () => slug, supersedes: true },
    handler: () => Effect.map(schedules.runDue, (changed) => ({ output: { changed } }))
  }))
