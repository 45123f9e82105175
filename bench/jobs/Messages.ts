import type { QueueName } from "./Queue.ts"

/** What the process of a queue is to do next; it answers each with `done`. */
export type ToQueue =
  | { readonly _tag: "open"; readonly queue: QueueName; readonly url: string }
  | { readonly _tag: "prepare" | "stop" | "end" }
  /** Enqueue so many jobs; the answer's times hold the milliseconds. */
  | { readonly _tag: "enqueue"; readonly count: number }
  /** Start working until so many jobs have run and are recorded; milliseconds from the first handler's start on. */
  | { readonly _tag: "drain"; readonly count: number }
  /** Enqueue single jobs, `pauseMs` apart, to a worker that has nothing to do; times from the call to the handler. */
  | { readonly _tag: "pickup"; readonly count: number; readonly pauseMs: number }
  /** Keep `pending` jobs waiting, `already` of them enqueued, and work; the times hold how many ran in each second. */
  | { readonly _tag: "steady"; readonly pending: number; readonly already: number; readonly seconds: number }

export interface FromQueue {
  readonly _tag: "done"
  readonly times: ReadonlyArray<number>
}
