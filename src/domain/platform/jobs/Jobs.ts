import { Context, Data, Effect, Layer } from "effect"
import { CurrentActor, isAnonymous } from "../access/Actor.ts"
import { grants } from "../access/Permission.ts"
import { Unauthorized, type ValidationFailed } from "../errors/ApiErrors.ts"
import { conflict, forbidden, notFound } from "../errors/ErrorKinds.ts"
import type { JobId } from "../ids/Id.ts"
import { pageSize } from "../paging/Paging.ts"
import type { JobStatus, RunCounts } from "./Job.ts"
import { JobRecordRepo } from "./JobRecordRepo.ts"

/** What a job is given: a JSON object. */
export type Input = Readonly<Record<string, unknown>>

/** Options of an enqueue (spec §2). */
export interface EnqueueOptions {
  /** The tenant of the job; must not be blank. */
  readonly organizationId: string
  /** Default: the task's queue, else `default`. */
  readonly queue?: string
  /** Milliseconds until the job may run. */
  readonly delayMs?: number
  /** Tries in all. Default: the task's policy, else 1. */
  readonly maxAttempts?: number
  /** Instead of the key that the task derives from the input. */
  readonly concurrencyKey?: string
  /** Instead of the task's own policy. */
  readonly supersedes?: boolean
  /** The job is enqueued once for its organization, task and this key, as long as the first one is kept. */
  readonly idempotencyKey?: string
}

export interface NewJob {
  readonly task: string
  readonly input: Input
  readonly options: EnqueueOptions
}

/**
 * Enqueues background jobs (spec §2 and §4). Inside of a caller's transaction the job is part of it: it exists exactly
 * if that commits. An unknown task is accepted, and fails when it is run.
 */
export class Jobs extends Context.Service<Jobs, {
  /** Returns the id of the new job. 422 if the organization is blank or an option is invalid. */
  readonly enqueue: (
    task: string,
    input: Input,
    options: EnqueueOptions
  ) => Effect.Effect<JobId, ValidationFailed>
  /** Many at once, in one statement; all or none. Ids in their order. */
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
export class RunnerNeedsAdmin extends forbidden("JobRunner", "Job runner requires admin access") {}

/** Jobs that failed for good, for the people of an organization (spec §4 Jobs). */
export class FailedJobs extends Context.Service<FailedJobs>()("stoa/domain/platform/jobs/FailedJobs", {
  make: Effect.map(JobRecordRepo, (repo) => ({
    list: repo.failed,
    /** Restarts a failed job. 404 without it, 409 if it is not failed. */
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

/** Which queue to run, and how many jobs of it at most. */
export interface RunRequest {
  readonly queue: string
  readonly limit: number
}

/** A task's schedule is no cron expression; one line that names both. */
export class InvalidSchedule extends Data.TaggedError("InvalidSchedule")<{ readonly message: string }> {}

/** One run of a queue for external drivers: the cron route, the command line, a server-side call (spec §4). */
export class JobRunner extends Context.Service<JobRunner, {
  /** 409 if an external runtime drives the deployment's engine. */
  readonly run: (request: RunRequest) => Effect.Effect<RunCounts, EngineDrivesJobs | InvalidSchedule>
}>()("stoa/domain/platform/jobs/JobRunner") {}

interface AskedRun {
  readonly queue?: string | undefined
  readonly limit?: string | ReadonlyArray<string> | undefined
}

/** Default number of jobs in a run (spec §8). */
const ordinary = 10

const numberOf = (sent: AskedRun["limit"]): number => {
  const asked = Number(typeof sent === "string" ? sent : sent?.[0])
  return asked >= 1 ? pageSize(sent) : sent === undefined || Number.isNaN(asked) ? ordinary : 1
}

/** Who may have a queue run, and how much of it (contract, platform §12.1). */
export class JobRuns extends Context.Service<JobRuns>()("stoa/domain/platform/jobs/JobRuns", {
  make: (production: boolean) =>
    Effect.map(JobRunner, (runner) => ({
      /** In production for `*:*` only: 401 without credentials, 403 with others. `limit` is clamped to 1 to 100. */
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
