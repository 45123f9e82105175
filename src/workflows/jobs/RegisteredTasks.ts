import { Effect, Layer } from "effect"
import { JobRecordRepo } from "../../domain/jobs/JobRecordRepo.ts"
import { JobSettings } from "../../domain/jobs/JobSettings.ts"
import { JobSettleRepo } from "../../domain/jobs/JobSettleRepo.ts"
import { defineTask } from "../../domain/jobs/Task.ts"
import { Tasks } from "../../domain/jobs/Tasks.ts"

/** Reclaims jobs from dead workers on demand (contract, platform §12.2). The queue also does so automatically. */
const reapStale = Tasks.add(Effect.map(JobSettleRepo, (repo) =>
  defineTask({
    slug: "jobs/reap-stale",
    handler: () => Effect.map(repo.reap, ({ failed, pending }) => ({ output: { reapedCount: pending + failed } }))
  })))

const first = "00000000-0000-0000-0000-000000000000"

/** Deletes jobs that ended long ago, oldest first, a thousand rows per statement. */
const purgeEnded = Tasks.add(Effect.gen(function*() {
  const repo = yield* JobRecordRepo
  const { keepFailedDays: failed, keepSucceededDays: succeeded } = yield* JobSettings
  return defineTask({
    slug: "jobs/purge-ended",
    schedule: "*/10 * * * *",
    handler: Effect.fnUntraced(function*() {
      let purgedCount = 0
      for (let after: string | undefined = first; after !== undefined;) {
        const purged: Effect.Success<ReturnType<typeof repo.purge>> = yield* repo.purge({ succeeded, failed }, after)
        purgedCount += purged.removed
        after = purged.next
      }
      return { output: { purgedCount } }
    })
  })
}))

/** Tasks of the queue itself (spec §2). */
export const registeredTasksLayer = Layer.merge(reapStale, purgeEnded)
