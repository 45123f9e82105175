import { Schema } from "effect"
import { about } from "../hints/Hints.ts"
import { JobId, OrganizationId } from "../ids/Id.ts"
import { Time } from "../text/Time.ts"

/** Spec §3. */
export const JobStatus = Schema.Literals(["pending", "processing", "succeeded", "failed"])
export type JobStatus = typeof JobStatus.Type

/** A background job in responses (spec §2, contract platform §12.1). */
export const Job = Schema.Struct({
  id: JobId,
  organizationId: OrganizationId,
  queue: Schema.String.pipe(about("Name of the queue; jobs without one are in default.")),
  taskSlug: Schema.String.pipe(about("Name of the task that runs, such as webhooks/deliver.")),
  input: Schema.Record(Schema.String, Schema.Unknown).annotate({ description: "Values that the task got." }),
  output: Schema.Unknown.pipe(about("Result of the task; null until it succeeds.")),
  status: JobStatus.pipe(
    about("A failed job has used all its attempts; one that waits for its next attempt is pending.")
  ),
  attempts: Schema.Int.annotate({ description: "Tries so far." }),
  maxAttempts: Schema.Int.annotate({ description: "Tries in all, the first included." }),
  error: Schema.NullOr(Schema.String).annotate({
    description: "Reason why the last attempt failed; null: it did not."
  }),
  waitUntil: Schema.NullOr(Time).annotate({ description: "Not run before this time." }),
  concurrencyKey: Schema.NullOr(Schema.String).pipe(about("Jobs with the same key run one at a time; null: no limit.")),
  createdAt: Time,
  updatedAt: Time,
  processingStartedAt: Schema.NullOr(Time),
  completedAt: Schema.NullOr(Time)
}).annotate({ identifier: "Job" })
export type Job = typeof Job.Type

export type ClaimedJob = Pick<
  Job,
  "id" | "organizationId" | "taskSlug" | "input" | "attempts" | "maxAttempts" | "createdAt"
>

/** The result of one try. `counted` is false for an unknown task or a process that stopped before the handler ended. */
export interface Settlement {
  readonly id: string
  readonly status: "succeeded" | "failed" | "pending"
  readonly output: string | null
  readonly error: string | null
  /** Milliseconds until the next try of a pending job. */
  readonly delayMs: number
  readonly counted: boolean
}

export interface FieldOrder {
  readonly field: "createdAt" | "updatedAt" | "attempts" | "taskSlug"
  readonly direction?: "asc" | "desc"
}

/**
 * Order of runnable jobs (spec §4 Jobs); ties by `createdAt`, then `id`. A comparator sees the 1,000 oldest and depends
 * on the two jobs alone.
 */
export type ProcessingOrder = FieldOrder | ((left: Job, right: Job) => number)

export const RunCounts = Schema.Struct({
  processed: Schema.Int.annotate({ description: "Jobs that succeeded." }),
  failed: Schema.Int.annotate({ description: "Jobs that failed for good." }),
  retried: Schema.Int.annotate({ description: "Jobs that failed and will be tried again." }),
  released: Schema.Int.annotate({ description: "Jobs that were put aside for their key, without a try." }),
  reaped: Schema.Int.annotate({ description: "Jobs that were taken from dead workers." })
}).annotate({ identifier: "JobRun" })
export type RunCounts = typeof RunCounts.Type
