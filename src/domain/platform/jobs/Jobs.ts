import { Context, Data, Effect, Layer } from "effect"
import { CurrentActor, isAnonymous } from "../access/Actor.ts"
import { grants } from "../access/Permission.ts"
import { Unauthorized, type ValidationFailed } from "../errors/ApiErrors.ts"
import { conflict, forbidden, notFound } from "../errors/ErrorKinds.ts"
import type { JobId } from "../ids/Id.ts"
import { pageSize } from "../paging/Paging.ts"
import type { JobStatus, RunCounts } from "./Job.ts"
import { JobRecordRepo } from "./JobRecordRepo.ts"

export type Input = Readonly<Record<string, unknown>>

export interface EnqueueOptions {
  readonly organizationId: string
  /** Default: the task's queue, else `default`. */
  readonly queue?: string
  /** Milliseconds until the job may run. */
  readonly delayMs?: number
  /** Tries in all. Default: the task's policy, else 1. */
  readonly maxAttempts?: number
  readonly concurrencyKey?: string
  readonly supersedes?: boolean
  /** Enqueues once per organization, task and key, while the first job is kept. */
  readonly idempotencyKey?: string
}

export interface NewJob {
  readonly task: string
  readonly input: Input
  readonly options: EnqueueOptions
}

/**
 * Enqueues background jobs (spec §2 and §4), within the caller's transaction if there is one. Unknown tasks fail at
 * their run.
 */
export class Jobs extends Context.Service<Jobs, {
  /** Returns the new id. 422 for a blank organization or an invalid option. */
  readonly enqueue: (
    task: string,
    input: Input,
    options: EnqueueOptions
  ) => Effect.Effect<JobId, ValidationFailed>
  /** All or none, in one statement; ids in order. */
  readonly enqueueAll: (jobs: ReadonlyArray<NewJob>) => Effect.Effect<ReadonlyArray<JobId>, ValidationFailed>
}>()("stoa/domain/platform/jobs/Jobs") {}

export class JobNotFound extends notFound("Job", "Job not found.") {}
export class JobNotFailed extends conflict(
  "JobNotFailed",
  (status: JobStatus) => `Only failed jobs are tried again; this one is ${status}.`
) {}
export class EngineDrivesJobs
  extends conflict("EngineDrivesJobs", "The jobs of this deployment are run by an engine of their own.")
{}
export class RunnerNeedsAdmin extends forbidden("JobRunner", "Job runner requires admin access.") {}

export class FailedJobs extends Context.Service<FailedJobs>()("stoa/domain/platform/jobs/FailedJobs", {
  make: Effect.map(JobRecordRepo, (repo) => ({
    list: repo.failed,
    /** 404 without it, 409 if it is not failed. */
    retry: Effect.fn("FailedJobs.retry")(function*(id: JobId) {
      const again = yield* repo.retry(id)
      if (again !== undefined) return again
      const found = yield* repo.find(id)
      return yield* found === undefined ? new JobNotFound() : new JobNotFailed(found.status)
    })
  }))
}) {
  static readonly layer = Layer.effect(FailedJobs, FailedJobs.make)
}

export interface RunRequest {
  readonly queue: string
  readonly limit: number
}

export class InvalidSchedule extends Data.TaggedError("InvalidSchedule")<{ readonly message: string }> {}

/** Runs a queue for external drivers: the cron route, the command line, a call (spec §4). */
export class JobRunner extends Context.Service<JobRunner, {
  /** 409 if an external runtime drives the engine. */
  readonly run: (request: RunRequest) => Effect.Effect<RunCounts, EngineDrivesJobs | InvalidSchedule>
}>()("stoa/domain/platform/jobs/JobRunner") {}

interface AskedRun {
  readonly queue?: string | undefined
  readonly limit?: string | ReadonlyArray<string> | undefined
}

const ordinary = 10

const numberOf = (sent: AskedRun["limit"]): number => {
  const asked = Number(typeof sent === "string" ? sent : sent?.[0])
  return asked >= 1 ? pageSize(sent) : sent === undefined || Number.isNaN(asked) ? ordinary : 1
}

export class JobRuns extends Context.Service<JobRuns>()("stoa/domain/platform/jobs/JobRuns", {
  make: (production: boolean) =>
    Effect.map(JobRunner, (runner) => ({
      /** In production for `*:*` only: 401 without credentials, else 403. `limit` is clamped to 1–100. */
      run: Effect.fn("JobRuns.run")(function*({ limit, queue }: AskedRun) {
        const actor = yield* CurrentActor
        if (production && !grants(actor.permissions, "*:*")) {
          return yield* isAnonymous(actor) ? Unauthorized.of() : new RunnerNeedsAdmin()
        }
        const run = runner.run({ queue: queue || "default", limit: numberOf(limit) })
        return yield* Effect.catchTag(run, "InvalidSchedule", Effect.die)
      })
    }))
}) {
  static readonly layerOf = (production: boolean) => Layer.effect(JobRuns, JobRuns.make(production))
}
