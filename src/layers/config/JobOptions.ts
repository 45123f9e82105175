import type { ProcessingOrder } from "../../domain/jobs/Job.ts"
import { defaultJobSettings, isPush, type JobEngine, type JobSettingsValues } from "../../domain/jobs/JobSettings.ts"
import type { Task } from "../../domain/jobs/Task.ts"

/** What a deployment decides about its jobs (docs/jobs.md). Times in milliseconds unless they say otherwise. */
export interface JobOptions {
  /** Kinds of jobs of the deployment's own, beside those of the core and of plugins. */
  readonly tasks?: ReadonlyArray<Task>
  /** Another queue in place of the built-in one. */
  readonly adapter?: JobEngine
  /** Which of the jobs that may run goes first. Default: the oldest `createdAt`. */
  readonly processingOrder?: ProcessingOrder
  readonly autorun?: {
    /**
     * Whether the processes that run actors work on all queues themselves. Default true, and false with a push engine
     * (`STOA_JOBS_AUTORUN`). Without it jobs stay pending until somebody asks for a run.
     */
    readonly enabled?: boolean
    /** How often an idle queue is looked at when nobody says that there is something. Default 10000. */
    readonly intervalMs?: number
  }
  /** Queues that always have a worker, beside `default` and those of tasks; others have workers while they have jobs. */
  readonly queues?: ReadonlyArray<string>
  /** Most workers of each queue in the whole deployment. Default 4. */
  readonly slots?: number
  /** Handlers that run at the same time in a worker. Default 50. */
  readonly concurrency?: number
  /** Most jobs that a worker claims at once while handlers end as fast as they begin. Default 1000. */
  readonly batch?: number
  /** Longest run of a handler whose task says nothing else. Default 300000, five minutes. */
  readonly timeLimitMs?: number
  /** How long a job belongs to its worker after its last sign of life. Default 60000 (`JOB_REAP_THRESHOLD_MS`). */
  readonly leaseMs?: number
  /** How often jobs of dead workers are looked for. Default 60000 (`JOBS_REAPER_INTERVAL_MS`). */
  readonly reapIntervalMs?: number
  /** Days that jobs stay after their end. Default 7 for those that succeeded, 30 for those that failed. */
  readonly retentionDays?: { readonly succeeded?: number; readonly failed?: number }
}

/** What the environment says beside it. */
export interface JobEnvironment {
  readonly autorun: boolean | undefined
  readonly leaseMs: number | undefined
  readonly reapMs: number | undefined
}

/** Two drivers for one queue: a start that has both explicitly does not come about. */
export const driversClash = ({ adapter, autorun }: JobOptions, environment: JobEnvironment): boolean =>
  isPush(adapter) && (environment.autorun ?? autorun?.enabled) === true

/** A number of the configuration that is none, or too small; undefined when all can be used. */
export const wrongNumber = (options: JobOptions): readonly [name: string, value: number] | undefined =>
  Object.entries({
    "autorun.intervalMs": options.autorun?.intervalMs,
    slots: options.slots,
    concurrency: options.concurrency,
    batch: options.batch,
    timeLimitMs: options.timeLimitMs,
    leaseMs: options.leaseMs,
    reapIntervalMs: options.reapIntervalMs,
    "retentionDays.succeeded": options.retentionDays?.succeeded,
    "retentionDays.failed": options.retentionDays?.failed
  }).find((entry): entry is [string, number] =>
    entry[1] !== undefined && !(Number.isInteger(entry[1]) && entry[1] >= 1 && entry[1] <= 2_147_483_647)
  )

/** The settings of the queue: the environment over the deployment's options over what holds everywhere. */
export const jobSettings = (options: JobOptions, environment: JobEnvironment): JobSettingsValues => ({
  ...defaultJobSettings,
  autorun: environment.autorun ?? options.autorun?.enabled ?? !isPush(options.adapter),
  pollMs: options.autorun?.intervalMs ?? defaultJobSettings.pollMs,
  slots: options.slots ?? defaultJobSettings.slots,
  concurrency: options.concurrency ?? defaultJobSettings.concurrency,
  batch: options.batch ?? defaultJobSettings.batch,
  timeLimitMs: options.timeLimitMs ?? defaultJobSettings.timeLimitMs,
  leaseMs: environment.leaseMs ?? options.leaseMs ?? defaultJobSettings.leaseMs,
  reapMs: environment.reapMs ?? options.reapIntervalMs ?? defaultJobSettings.reapMs,
  keepSucceededDays: options.retentionDays?.succeeded ?? defaultJobSettings.keepSucceededDays,
  keepFailedDays: options.retentionDays?.failed ?? defaultJobSettings.keepFailedDays,
  order: options.processingOrder ?? defaultJobSettings.order,
  engine: options.adapter,
  queues: options.queues ?? defaultJobSettings.queues
})
