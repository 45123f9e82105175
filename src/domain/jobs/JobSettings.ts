import { Context, Layer } from "effect"
import type { ProcessingOrder } from "./Job.ts"

/** Job settings of this deployment. Times in milliseconds unless stated otherwise. */
export interface JobSettingsValues {
  /** Whether the processes themselves run the queues. */
  readonly autorun: boolean
  /** Polling interval of an idle queue without notifications. */
  readonly pollMs: number
  /** Workers of a queue in the complete deployment. */
  readonly slots: number
  /** Handlers that run at the same time in a slot. */
  readonly concurrency: number
  /** Maximum number of jobs in one claim while handlers end as fast as they begin. */
  readonly batch: number
  /** How long a job belongs to its worker after its last sign of life. */
  readonly leaseMs: number
  /** Interval between checks for jobs of dead workers. */
  readonly reapMs: number
  /** Time limit of a handler whose task sets none. */
  readonly timeLimitMs: number
  /** How long a stopping process waits for its handlers. */
  readonly drainMs: number
  /** How long a slot works before it hands over to its successor. */
  readonly cycleMs: number
  readonly keepSucceededDays: number
  readonly keepFailedDays: number
  readonly order: ProcessingOrder
  /** Queues with permanent slots, besides `default` and those of tasks. */
  readonly queues: ReadonlyArray<string>
}

/** Defaults for settings missing from the deployment's configuration. */
export const defaultJobSettings: JobSettingsValues = {
  autorun: true,
  pollMs: 10_000,
  slots: 4,
  concurrency: 50,
  batch: 1_000,
  leaseMs: 60_000,
  reapMs: 60_000,
  timeLimitMs: 300_000,
  drainMs: 8_000,
  cycleMs: 60_000,
  keepSucceededDays: 7,
  keepFailedDays: 30,
  order: { field: "createdAt", direction: "asc" },
  queues: []
}

/** The settings of the queue. */
export class JobSettings extends Context.Service<JobSettings, JobSettingsValues>()("stoa/domain/jobs/JobSettings") {
  static readonly layerOf = (settings: Partial<JobSettingsValues>): Layer.Layer<JobSettings> =>
    Layer.succeed(JobSettings, { ...defaultJobSettings, ...settings })
}
