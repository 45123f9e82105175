import { Effect } from "effect"
import { Schedules } from "../../domain/catalog/schedules/Schedules.ts"
import { defineTask } from "../../domain/platform/tasks/Task.ts"

const slug = "catalog/publish-due"

/**
 * The task `catalog/publish-due`: publishes and archives due entities every minute. Changes due during an outage run at
 * the next scheduler tick. Two runs never overlap; if they did, each change would still happen once (`Schedules`).
 */
export const publishDue = Effect.map(Schedules, (schedules) =>
  defineTask({
    slug,
    schedule: "* * * * *",
    concurrency: { key: () => slug, supersedes: true },
    handler: () => Effect.map(schedules.runDue, (changed) => ({ output: { changed } }))
  }))
