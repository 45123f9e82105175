import { Effect, Layer, Schema } from "effect"
import { ImportExportSettings } from "../../domain/import-export/ImportExportSettings.ts"
import { ImportRepo } from "../../domain/import-export/ImportRepo.ts"
import { Jobs } from "../../domain/jobs/Jobs.ts"
import { defineTask, GiveUp, Tasks } from "../../domain/jobs/Task.ts"
import { ImportRuns, importTask } from "./ImportRuns.ts"

const Input = Schema.Struct({ importId: Schema.String })
const inputOf = Schema.decodeUnknownEffect(Input)

/** Minutes without a batch after which an import's job counts as lost; a batch takes seconds. */
const stalledMinutes = 15

/** Imports handled in one run of the scheduled job. */
const perTurn = 100

/**
 * The job of an import. An organization's imports run in sequence, so that two files with the same records do not wait
 * for each other's rows. A separate queue keeps a large file from delaying other jobs.
 */
const running = Tasks.add(Effect.map(Effect.all([ImportRuns, ImportRepo]), ([runs, repo]) =>
  defineTask({
    slug: importTask,
    queue: "imports",
    retries: { attempts: 50, backoff: { type: "exponential", delay: 1_000, ceiling: 60_000, jitter: 0.2 } },
    timeLimitMs: 21_600_000,
    concurrency: { key: () => "imports" },
    handler: Effect.fnUntraced(function*({ input, job }) {
      const { importId } = yield* Effect.mapError(inputOf(input), () => new GiveUp("It names no import."))
      const record = yield* Effect.catchDefect(runs.run(importId), (defect) => {
        const last = job.attemptNumber >= job.maxAttempts
        const end = last
          ? Effect.asVoid(repo.end(importId, "failed", `It was given up after ${job.attemptNumber} tries.`))
          : Effect.void
        return Effect.andThen(end, Effect.die(defect))
      })
      if (record === undefined) return { output: { state: "gone" } }
      const { created, read, refused, state, unchanged, updated } = record
      return { output: { state, read, created, updated, unchanged, refused } }
    })
  })))

/** Enqueues a new job for imports that lost theirs. */
const reviving = Tasks.add(Effect.gen(function*() {
  const repo = yield* ImportRepo
  const jobs = yield* Jobs
  return defineTask({
    slug: "imports/revive",
    schedule: "*/10 * * * *",
    handler: Effect.fnUntraced(function*() {
      const stalled = yield* repo.stalled(stalledMinutes, perTurn)
      yield* jobs.enqueueAll(stalled.map(({ id, organizationId }) => ({
        task: importTask,
        input: { importId: id },
        options: { organizationId }
      })))
      return { output: { revived: stalled.length } }
    })
  })
}))

/** Removes imports with their records and reports after their retention. */
const purging = Tasks.add(Effect.gen(function*() {
  const repo = yield* ImportRepo
  const { keepDays } = yield* ImportExportSettings
  return defineTask({
    slug: "retention/imports",
    schedule: "*/10 * * * *",
    concurrency: { key: () => "retention/imports", supersedes: true },
    handler: Effect.fnUntraced(function*() {
      let removed = 0
      for (let last = perTurn; last >= perTurn;) {
        last = yield* repo.purge(keepDays, perTurn)
        removed += last
      }
      return { output: { removed } }
    })
  })
}))

/** Tasks of imports. */
export const importTasks = Layer.mergeAll(running, reviving, purging)
