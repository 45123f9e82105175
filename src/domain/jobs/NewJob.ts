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
}

/** A job to be enqueued with others in one statement. */
export interface NewJob {
  readonly task: string
  readonly input: Input
  readonly options: EnqueueOptions
}
