import { Effect } from "effect"
import { defineTask } from "stoa/plugin"
import { Performance } from "./Performance.ts"

/** Task `marketplace/score-vendors` (contract, plugins §1.8): every night, the scores of the vendors of all organizations. */
export const performanceTasks = Effect.map(Performance, ({ scoreAll }) => [
  defineTask({
    slug: "marketplace/score-vendors",
    schedule: "23 3 * * *",
    concurrency: { key: () => "marketplace/score-vendors", supersedes: true },
    handler: () => Effect.map(scoreAll, (changed) => ({ output: { changed } }))
  })
])
