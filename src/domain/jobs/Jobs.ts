import { Context, type Effect } from "effect"
import type { ValidationFailed } from "../errors/ApiErrors.ts"
import type { Input } from "./Task.ts"

/** Options of an enqueue (spec §2). */
export interface EnqueueOptions {
  /** The tenant whose job it is; blank is refused. */
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
}

/** A job to be enqueued with others in one statement. */
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
  /** Gives the id of the new job. 422 when the organization is blank or an option makes no sense. */
  readonly enqueue: (
    task: string,
    input: Input,
    options: EnqueueOptions
  ) => Effect.Effect<string, ValidationFailed>
  /** Many at once, in one statement; all or none. Ids in their order. */
  readonly enqueueAll: (jobs: ReadonlyArray<NewJob>) => Effect.Effect<ReadonlyArray<string>, ValidationFailed>
}>()("stoa/domain/jobs/Jobs") {}
