import { Context, Effect, Layer } from "effect"
import type { ProcessingOrder } from "./Job.ts"
import type { Input } from "./NewJob.ts"
import type { Task } from "./Task.ts"

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
}

/** A try of a job that an engine wants done. */
export interface EngineCall {
  readonly id: string
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

/** What one run of a queue did (contract, platform §12.1). */
export interface RunCounts {
  /** Jobs that succeeded. */
  readonly processed: number
  /** Jobs that failed for good. */
  readonly failed: number
  /** Jobs that failed and will be tried again. */
  readonly retried: number
  /** Jobs that were put aside for their key without a try. */
  readonly released: number
  /** Jobs reclaimed from dead workers. */
  readonly reaped: number
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

/** The engine of the deployment; undefined for the built-in one. */
export class ConfiguredEngine extends Context.Service<ConfiguredEngine, { readonly engine: JobEngine | undefined }>()(
  "stoa/domain/jobs/JobEngine/ConfiguredEngine"
) {
  static readonly layerOf = (engine: JobEngine | undefined): Layer.Layer<ConfiguredEngine> =>
    Layer.sync(ConfiguredEngine, () => ({ engine }))
}

/** Whether an external runtime drives the queue; a run request is then refused (409 over HTTP). */
export const isPush = (engine: JobEngine | undefined): boolean => engine?.execution.mode === "push"

/** Calls an engine; what it rejects with is a defect, as a failing statement of the built-in queue is. */
export const askEngine = <A>(call: () => Promise<A> | A): Effect.Effect<A> => Effect.promise(async () => call())
