import { DateTime, Effect } from "effect"
import type { Database } from "../../../domain/platform/database/DatabaseRepo.ts"
import { defineTask, type Task } from "../../../domain/platform/tasks/Task.ts"
import { forgetOld, type PersonalPlugin, personalTables } from "../tables/PersonalRowsRepo.ts"

const batch = 500

/**
 * The daily task that deletes or blanks rows of a plugin's tables after their `keepDays`, of all organizations; none for a
 * plugin without such tables. Its output counts rows by table.
 */
export const retentionOf = (sql: Database, plugin: PersonalPlugin): ReadonlyArray<Task> => {
  const kept = personalTables(plugin).flatMap((one) => one.keepDays === undefined ? [] : [{ one, days: one.keepDays }])
  if (kept.length === 0) return []
  const slug = `${plugin.id}/personal-data`
  return [defineTask({
    slug,
    schedule: "41 3 * * *",
    concurrency: { key: () => slug, supersedes: true },
    handler: Effect.fn("Retention")(function*() {
      const now = yield* DateTime.now
      const output: Record<string, number> = {}
      for (const { days, one } of kept) {
        const before = DateTime.toDateUtc(DateTime.subtract(now, { days }))
        let done = 0
        for (let last = batch; last === batch; done += last) {
          last = yield* forgetOld(sql, plugin, one, before, batch)
        }
        output[one.table.name] = done
      }
      return { output }
    })
  })]
}
