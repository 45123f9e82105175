import { PgClient } from "@effect/sql-pg"
import { Effect, Layer, Redacted } from "effect"
import { SqlClient } from "effect/sql"
import type { Settlement } from "../../src/domain/platform/jobs/Job.ts"
import { JobRecordRepo } from "../../src/domain/platform/jobs/JobRecordRepo.ts"
import { type EnqueueOptions, type Input, JobRunner, Jobs } from "../../src/domain/platform/jobs/Jobs.ts"
import { StoreSettings } from "../../src/domain/platform/settings/StoreSettings.ts"
import { type JobEngine, JobSettings, type JobSettingsValues } from "../../src/domain/platform/tasks/JobSettings.ts"
import { type Task, Tasks } from "../../src/domain/platform/tasks/Task.ts"
import { JobClaimStatements } from "../../src/layers/jobs/JobClaimStatements.ts"
import { JobNotifier } from "../../src/layers/jobs/JobNotifier.ts"
import { JobQueueRepo, SchedulerTickRepo } from "../../src/layers/jobs/JobQueueRepo.ts"
import { jobRunnerLayer, registeredTasksLayer } from "../../src/layers/jobs/JobRunner.ts"
import { JobSchedules, queuedJobsLayer } from "../../src/layers/jobs/QueuedJobs.ts"
import { TaskRuns } from "../../src/layers/jobs/TaskRuns.ts"
import { QueueClaims } from "../../src/layers/jobs/WorkerSlot.ts"
import { WorkerSlotRepo } from "../../src/layers/jobs/WorkerSlotRepo.ts"
import { freshDatabase, TestDatabase } from "../support/Postgres.ts"
import { waitFor } from "../support/waitFor.ts"

export interface QueueOptions {
  readonly tasks?: ReadonlyArray<Task>
  readonly settings?: Partial<JobSettingsValues>
  readonly engine?: JobEngine
  /** Default: a fresh one of the test's server. */
  readonly database?: typeof TestDatabase
}

const repos = Layer.mergeAll(
  JobClaimStatements.layer,
  JobQueueRepo.layer,
  JobRecordRepo.layer,
  WorkerSlotRepo.layer,
  SchedulerTickRepo.layer
)

/** The queue with the tasks of a test over a fresh database. Only the test runs it. */
export const queueLayer = ({ database = TestDatabase, engine, settings = {}, tasks = [] }: QueueOptions) => {
  const own = Layer.effectDiscard(Effect.flatMap(Tasks, (all) => Effect.forEach(tasks, (task) => all.register(task))))
  const given = Layer.mergeAll(
    Tasks.layer,
    JobNotifier.layer,
    JobSettings.layerOf({ ...settings, engine }),
    StoreSettings.layerOf({}),
    repos
  )
  return Layer.mergeAll(jobRunnerLayer, QueueClaims.layer, registeredTasksLayer, own).pipe(
    Layer.provideMerge(JobSchedules.layer),
    Layer.provideMerge(Layer.mergeAll(queuedJobsLayer, TaskRuns.layer)),
    Layer.provideMerge(given),
    Layer.provideMerge(database)
  )
}

/** Enqueues for the default organization. */
export const enqueue = (task: string, input: Input = {}, options: Partial<EnqueueOptions> = {}) =>
  Effect.flatMap(Jobs, (jobs) => jobs.enqueue(task, input, { organizationId: "org_default", ...options }))

/** One run of a queue; ten jobs at most. */
export const run = (limit = 10, queue = "default") =>
  Effect.flatMap(JobRunner, (runner) => runner.run({ queue, limit }))

export interface Row {
  readonly id: string
  readonly status: string
  readonly attempts: number
  readonly error: string | null
  readonly output: unknown
  readonly completed: boolean
  readonly blocked: boolean
}

/** The row of a job. */
export const rowOf = (id: string) =>
  Effect.gen(function*() {
    const sql = yield* SqlClient.SqlClient
    const [row] = yield* sql<
      Row
    >`select id, status, attempts, error, output, blocked, completed_at is not null as completed
      from commerce_jobs where id = ${id}::uuid`
    return row ?? (yield* Effect.die(new Error(`no job ${id}`)))
  })

/** How many rows of a table there are. */
export const countOf = (table: "commerce_jobs" | "job_keys") =>
  Effect.gen(function*() {
    const sql = yield* SqlClient.SqlClient
    const [row] = yield* sql<{ n: number }>`select count(*)::int4 as n from ${sql(table)}`
    return row?.n ?? 0
  })

/** The end of a try that succeeded, or another one. */
export const done = (id: string, of: Partial<Settlement> = {}): Settlement => ({
  id,
  status: "succeeded",
  output: null,
  error: null,
  delayMs: 0,
  counted: true,
  ...of
})

/** One connection, whose plans are made once without looking at the parameters, as those of the service are. */
export const OneConnection = Layer.unwrap(Effect.map(freshDatabase, ({ url }) =>
  PgClient.layer({
    url: Redacted.make(url),
    maxConnections: 1,
    startupOptions: "-c plan_cache_mode=force_generic_plan"
  })))

export const until = (what: string, check: () => boolean) => Effect.promise(() => waitFor(what, check))
