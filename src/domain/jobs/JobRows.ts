import type { ClaimedJob, Job } from "./Job.ts"

/** A row of `commerce_jobs` from the driver. */
export interface JobRow {
  readonly id: string
  readonly organization_id: string
  readonly queue: string
  readonly task_slug: string
  readonly status: Job["status"]
  readonly input: Job["input"]
  readonly output: unknown
  readonly error: string | null
  readonly attempts: number
  readonly max_attempts: number
  readonly wait_until: Date | null
  readonly concurrency_key: string | null
  readonly processing_started_at: Date | null
  readonly completed_at: Date | null
  readonly created_at: Date
  readonly updated_at: Date
}

/** The columns of a `JobRow`. */
export const jobColumns =
  "id, organization_id, queue, task_slug, status, input, output, error, attempts, max_attempts, wait_until, " +
  "concurrency_key, processing_started_at, completed_at, created_at, updated_at"

/** The record of a row. */
export const jobOf = (row: JobRow): Job => ({
  id: row.id,
  organizationId: row.organization_id,
  queue: row.queue,
  taskSlug: row.task_slug,
  input: row.input,
  output: row.output,
  status: row.status,
  attempts: row.attempts,
  maxAttempts: row.max_attempts,
  error: row.error,
  waitUntil: row.wait_until,
  concurrencyKey: row.concurrency_key,
  createdAt: row.created_at,
  updatedAt: row.updated_at,
  processingStartedAt: row.processing_started_at,
  completedAt: row.completed_at
})

/** A row of a claim. */
export interface ClaimedRow {
  readonly id: string
  readonly organization_id: string
  readonly task_slug: string
  readonly input: Job["input"]
  readonly attempts: number
  readonly max_attempts: number
  readonly created_at: Date
}

/** What a worker is given of it. */
export const claimedOf = (row: ClaimedRow): ClaimedJob => ({
  id: row.id,
  organizationId: row.organization_id,
  taskSlug: row.task_slug,
  input: row.input,
  attempts: row.attempts,
  maxAttempts: row.max_attempts,
  createdAt: row.created_at
})
