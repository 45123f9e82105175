import { Context, Effect, Layer } from "effect"
import type { JobId } from "../ids/Id.ts"
import type { ProcessingOrder, RunCounts } from "../jobs/Job.ts"
import type { Input } from "../jobs/Jobs.ts"
import type { Task, Tasks } from "./Task.ts"

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
  readonly idempotencyKey: string | null
}

export interface EngineCall {
  readonly id: JobId
  readonly task: string
  readonly input: Input
  readonly organizationId: string
  readonly attempt: number
  readonly maxAttempts: number
}

/** `retry` gives milliseconds. */
export type EngineOutcome =
  | { readonly status: "succeeded"; readonly output: unknown }
  | { readonly status: "failed"; readonly error: string }
  | { readonly status: "retry"; readonly error: string; readonly delayMs: number }

export interface EngineRegistration {
  readonly tasks: ReadonlyArray<Task>
  readonly processingOrder: ProcessingOrder
  /** Runs the handler as its organization, within its time limit. Never rejects. */
  readonly run: (call: EngineCall) => Promise<EngineOutcome>
}

/**
 * Replaces the built-in queue (`jobs.adapter`). `autorun` and the run route drive a `pull` engine; an external runtime
 * drives a `push` engine, which excludes both.
 */
export interface JobEngine {
  /** Ids in their order. Never part of a database transaction. */
  readonly enqueue: (jobs: ReadonlyArray<EngineJob>) => Promise<ReadonlyArray<string>>
  readonly register: (registration: EngineRegistration) => Promise<void> | void
  readonly execution:
    | {
      readonly mode: "pull"
      readonly run: (request: { readonly queue: string; readonly limit: number }) => Promise<RunCounts>
    }
    | { readonly mode: "push" }
}

/** Run requests are refused (409) when an external runtime drives the queue. */
export const isPush = (engine: JobEngine | undefined): boolean => engine?.execution.mode === "push"

export const askEngine = <A>(call: () => Promise<A> | A): Effect.Effect<A> => Effect.promise(async () => call())

/** Times in milliseconds unless stated otherwise. */
export interface JobSettingsValues {
  readonly autorun: boolean
  readonly pollMs: number
  readonly slots: number
  readonly concurrency: number
  readonly batch: number
  readonly leaseMs: number
  readonly reapMs: number
  readonly timeLimitMs: number
  readonly drainMs: number
  readonly loopMs: number
  readonly keepSucceededDays: number
  readonly keepFailedDays: number
  readonly order: ProcessingOrder
  /** Replaces the built-in queue. */
  readonly engine: JobEngine | undefined
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

export const defaultQueue = "default"

/** Always have a worker, with all slots under load; other queues only while they have jobs. */
export const permanentQueues = (tasks: Tasks["Service"], { queues }: JobSettingsValues): ReadonlyArray<string> => [
  ...new Set([defaultQueue, ...queues, ...tasks.all().flatMap(({ queue }) => queue ?? [])])
]
