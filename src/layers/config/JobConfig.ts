import type { ProcessingOrder } from "../../domain/jobs/Job.ts"
import { defaultJobSettings, isPush, type JobEngine, type JobSettingsValues } from "../../domain/jobs/JobSettings.ts"
import type { Task } from "../../domain/jobs/Task.ts"
import * as Setting from "./Settings.ts"

const positive = Setting.whole(1, 2_147_483_647).annotate({ description: "a whole number from 1" })

/** Jobs of a deployment (docs/jobs.md). */
export const jobSettings = Setting.group({
  /** Tasks of the deployment, besides those of the core and of plugins. */
  tasks: Setting.withDefault(Setting.code<ReadonlyArray<Task>>(), []),
  /** Another queue in place of the built-in one. */
  adapter: Setting.optional(Setting.code<JobEngine>()),
  /** Which of the due jobs runs first. Default: the oldest `createdAt`. */
  processingOrder: Setting.withDefault(Setting.code<ProcessingOrder>(), defaultJobSettings.order),
  autorun: Setting.group({
    /**
     * Whether the processes that run actors work on all queues; without it jobs stay pending until a run is requested.
     * Default true, and false with a push engine (`STOA_JOBS_AUTORUN`).
     */
    enabled: Setting.optional(Setting.flag, "STOA_JOBS_AUTORUN"),
    /** Polling interval of an idle queue without notifications. Default 10000. */
    intervalMs: Setting.withDefault(positive, defaultJobSettings.pollMs)
  }),
  /** Queues that always have a worker, besides `default` and those of tasks. */
  queues: Setting.withDefault(Setting.texts, defaultJobSettings.queues),
  /** Maximum number of workers of a queue in the whole deployment. Default 4. */
  slots: Setting.withDefault(positive, defaultJobSettings.slots),
  /** Concurrent handlers of a worker. Default 50. */
  concurrency: Setting.withDefault(positive, defaultJobSettings.concurrency),
  /** Maximum number of jobs in one claim while handlers end as fast as they begin. Default 1000. */
  batch: Setting.withDefault(positive, defaultJobSettings.batch),
  /** Time limit of a handler whose task sets none. Default 300000, five minutes. */
  timeLimitMs: Setting.withDefault(positive, defaultJobSettings.timeLimitMs),
  /** How long a job belongs to its worker after its last heartbeat. Default 60000 (`JOB_REAP_THRESHOLD_MS`). */
  leaseMs: Setting.withDefault(positive, defaultJobSettings.leaseMs, "JOB_REAP_THRESHOLD_MS"),
  /** Interval between checks for jobs of dead workers. Default 60000 (`JOBS_REAPER_INTERVAL_MS`). */
  reapIntervalMs: Setting.withDefault(positive, defaultJobSettings.reapMs, "JOBS_REAPER_INTERVAL_MS"),
  /** Days that jobs stay after their end. */
  retentionDays: Setting.group({
    /** Default 7. */
    succeeded: Setting.withDefault(positive, defaultJobSettings.keepSucceededDays),
    /** Default 30. */
    failed: Setting.withDefault(positive, defaultJobSettings.keepFailedDays)
  })
})

/** The settings of the queue, which has one driver: these processes, or an engine that pushes jobs. */
export const jobsOf = (jobs: typeof jobSettings.Type, { refuse }: Setting.Problems): JobSettingsValues => {
  const { adapter, autorun, reapIntervalMs: reapMs, retentionDays, processingOrder: order, ...same } = jobs
  if (isPush(adapter) && autorun.enabled === true) {
    refuse("jobs.autorun.enabled", true, "false: the push engine of jobs.adapter drives the jobs itself")
  }
  return {
    ...defaultJobSettings,
    ...same,
    engine: adapter,
    order,
    reapMs,
    autorun: autorun.enabled ?? !isPush(adapter),
    pollMs: autorun.intervalMs,
    keepSucceededDays: retentionDays.succeeded,
    keepFailedDays: retentionDays.failed
  }
}
