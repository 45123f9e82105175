import { Context, Effect, Layer, Schema, Struct } from "effect"
import { BatchRepo, type Work } from "../../domain/import-export/BatchRepo.ts"
import { type Import, ImportExportSettings, isOver } from "../../domain/import-export/Import.ts"
import { ImportKinds } from "../../domain/import-export/ImportKinds.ts"
import { ImportRepo } from "../../domain/import-export/ImportRepo.ts"
import { CurrentActor } from "../../domain/platform/access/Actor.ts"
import { isTransient } from "../../domain/platform/errors/Transience.ts"
import { ImportId } from "../../domain/platform/ids/Id.ts"
import { Jobs } from "../../domain/platform/jobs/Jobs.ts"
import { defineTask, GiveUp, purgeTask, Tasks } from "../../domain/platform/tasks/Task.ts"

export const importTask = "imports/run"

/** A concurrent request may have caused the database error of a single record. */
const triesOfOne = 3

const unwritable = { path: "", message: "The record could not be written.", code: "unwritable" }

const refuseAll: Work = (rows) =>
  Effect.succeed({
    results: rows.map((row) => ({ ...row, key: null, result: { _tag: "refused", issues: [unwritable] } })),
    afterCommit: Effect.void
  })

const make = Effect.gen(function*() {
  const repo = yield* ImportRepo
  const batches = yield* BatchRepo
  const kinds = yield* ImportKinds
  const { batchRows } = yield* ImportExportSettings

  /** Splits a batch that the database refuses, down to the record that causes it. */
  const step = (id: ImportId, work: Work, limit: number, tries = 1): ReturnType<typeof batches.next> =>
    Effect.catchDefect(batches.next(id, limit, work), (defect) => {
      if (isTransient(defect)) return Effect.die(defect)
      const why = Effect.logWarning(`a batch of ${limit} of import ${id} was not written`, defect)
      if (limit > 1) return Effect.andThen(why, step(id, work, Math.ceil(limit / 8)))
      if (tries < triesOfOne) return step(id, work, 1, tries + 1)
      return Effect.andThen(why, batches.next(id, 1, refuseAll))
    })

  const toTheEnd = Effect.fnUntraced(function*(begun: Import, seen: (record: Import) => Effect.Effect<void>) {
    const work = kinds.workFor(begun)
    for (let record = begun; !isOver(record);) {
      const done = yield* step(begun.id, work, batchRows)
      if (done === undefined) break
      // After the commit nothing else triggers these hooks, so even a shutdown must not interrupt them.
      yield* Effect.uninterruptible(done.afterCommit)
      yield* seen(done.record)
      record = done.record
    }
    return yield* repo.find(begun.id)
  })

  /**
   * Continues an import from its last batch to the end, as the actor who sent the file. Safe to interrupt, restart and
   * run in two workers at once.
   */
  const run = Effect.fn("ImportRuns.run")(
    function*(id: ImportId, seen: (record: Import) => Effect.Effect<void> = () => Effect.void) {
      const found = yield* repo.find(id)
      const sender = yield* repo.actorOf(id)
      if (found === undefined || sender === undefined) return undefined
      const { executionId: _, ...actor } = sender
      // The changes belong to the actor but not to their request, which was answered when the file had arrived.
      const working = { ...actor, requestId: null, ip: null, userAgent: null, source: "job" as const }
      return yield* Effect.provideService(toTheEnd(found, seen), CurrentActor, working)
    }
  )

  return { run }
})

export class ImportRuns extends Context.Service<ImportRuns>()("stoa/workflows/import-export/ImportRuns", { make }) {
  static readonly layer = Layer.effect(ImportRuns, make)
}

const inputOf = Schema.decodeUnknownEffect(Schema.Struct({ importId: ImportId }))

const stalledMinutes = 15

const perTurn = 100

/**
 * An organization's imports run in sequence: two files with the same records do not wait for each other's rows. A
 * separate queue keeps a large file from delaying other jobs.
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
        const end = Effect.asVoid(repo.end(importId, "failed", `It was given up after ${job.attemptNumber} tries.`))
        return Effect.andThen(job.attemptNumber < job.maxAttempts ? Effect.void : end, Effect.die(defect))
      })
      if (record === undefined) return { output: { state: "gone" } }
      return { output: Struct.pick(record, ["state", "read", "created", "updated", "unchanged", "refused", "warned"]) }
    })
  })))

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

const purging = Tasks.add(Effect.gen(function*() {
  const repo = yield* ImportRepo
  const { keepDays } = yield* ImportExportSettings
  return purgeTask("imports", perTurn, repo.purge(keepDays, perTurn))
}))

export const importTasks = Layer.mergeAll(running, reviving, purging)
