/** A job queue under test, in a separate process. Its jobs do nothing; each calls `ran` when it starts. */
export interface Queue {
  /** Makes its tables in an empty database. */
  readonly prepare: () => Promise<void>
  /** Enqueues so many jobs, as many in a statement as the queue does best with. */
  readonly enqueue: (count: number) => Promise<void>
  /** Enqueues one job, as an application would. */
  readonly enqueueOne: () => Promise<void>
  /** Starts working; `ran` is called at the start of every job's handler. */
  readonly start: (ran: () => void) => Promise<void>
  /** Ends the work that is under way and stops. */
  readonly stop: () => Promise<void>
  /** SQL that counts what is not done yet, as `open`. */
  readonly open: string
}

/** Makes the queue for the database at this address. */
export type OpenQueue = (url: string) => Queue

export const queueNames = ["stoa", "graphile-worker", "pg-boss"] as const
export type QueueName = typeof queueNames[number]
