import { Context, Effect, Layer } from "effect"
import type { JobId } from "../ids/Id.ts"
import type { ProcessingOrder, RunCounts } from "../jobs/Job.ts"
import type { Input } from "../jobs/Jobs.ts"
import type { Task, Tasks } from "./Task.ts"

/** A job for an engine, with the policies of its task applied. */
export interface EngineJob {
  readonly task: string
  readonly input: Input
  readonly organizationId: string
  readonly queue: string
  readonly delayMs: number
  readonly maxAttempts: number
  readonly concurrencyKey: string | null
  readonly exclusive: boolean
  readonly supersedes: boolean
  /** Of several jobs of an organization and task with one key, only the first is run; null: no such rule. */
  readonly idempotencyKey: string | null
}

/** A try of a job that an engine wants done. */
export interface EngineCall {
  readonly id: JobId
  readonly task: string
  readonly input: Input
  readonly organizationId: string
  /** From 1. */
  readonly attempt: number
  readonly maxAttempts: number
}

/** The outcome of a try; `retry` gives the milliseconds until the next one. */
export type EngineOutcome =
  | { readonly status: "succeeded"; readonly output: unknown }
  | { readonly status: "failed"; readonly error: string }
  | { readonly status: "retry"; readonly error: string; readonly delayMs: number }

/** What an engine learns of the service when a process that runs jobs starts. */
export interface EngineRegistration {
  readonly tasks: ReadonlyArray<Task>
  readonly processingOrder: ProcessingOrder
  /** Runs the handler as the service would: as its organization, within its time limit. Never rejects. */
  readonly run: (call: EngineCall) => Promise<EngineOutcome>
}

/**
 * A queue that replaces the built-in one (`jobs.adapter`). The service drives a `pull` engine by `autorun` and the run
 * route. An external runtime drives a `push` engine, which must not be combined with either.
 */
export interface JobEngine {
  /** Takes jobs over; ids in their order. It cannot be part of a database transaction. */
  readonly enqueue: (jobs: ReadonlyArray<EngineJob>) => Promise<ReadonlyArray<string>>
  readonly register: (registration: EngineRegistration) => Promise<void> | void
  readonly execution:
    | {
      readonly mode: "pull"
      readonly run: (request: { readonly queue: string; readonly limit: number }) => Promise<RunCounts>
    }
    | { readonly mode: "push" }
}

/** Whether an external runtime drives the queue; a run request is then refused (409 over HTTP). */
export const isPush = (engine: JobEngine | undefined): boolean => engine?.execution.mode === "push"

/** Calls an engine; what it rejects with is a defect, as a failing statement of the built-in queue is. */
export const askEngine = <A>(call: () => Promise<A> | A): Effect.Effect<A> => Effect.promise(async () => call())

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
  readonly loopMs: number
  readonly keepSucceededDays: number
  readonly keepFailedDays: number
  readonly order: ProcessingOrder
  /** Replaces the built-in queue. */
  readonly engine: JobEngine | undefined
  /** Queues with permanent slots, besides `default` and those of tasks. */
  readonly queues: ReadonlyArray<string>
}

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
  loopMs: 60_000,
  keepSucceededDays: 7,
  keepFailedDays: 30,
  order: { field: "createdAt", direction: "asc" },
  engine: undefined,
  queues: []
}

export class JobSettings
  extends Context.Service<JobSettings, JobSettingsValues>()("stoa/domain/platform/tasks/JobSettings")
{
  static readonly layerOf = (settings: Partial<JobSettingsValues>): Layer.Layer<JobSettings> =>
    Layer.succeed(JobSettings, { ...defaultJobSettings, ...settings })
}

/** Where jobs go that name no queue. */
export const defaultQueue = "default"

/** Queues that always have a worker, with all slots under load; other queues have workers only while they have jobs. */
export const permanentQueues = (tasks: Tasks["Service"], { queues }: JobSettingsValues): ReadonlyArray<string> => [
  ...new Set([defaultQueue, ...queues, ...tasks.all().flatMap(({ queue }) => queue ?? [])])
]
