/** What a shopper does over and over; see `Flows.ts`. */
export type FlowName =
  | "visit"
  | "list"
  | "product"
  | "cart"
  | "purchase"
  | "flash"
  | "checkout"
  | "cartlines"
  | "orders"

/** What a load process is to do. Every shopper has one connection and makes no pause between requests. */
export interface LoadJob {
  /** Where its shoppers go, in turn. */
  readonly origins: ReadonlyArray<string>
  readonly flow: FlowName
  readonly users: number
  /** Load that is not measured, in seconds; it ends before the window is announced. */
  readonly warmup: number
  /** Length of the window. 0: until `flows` are done. */
  readonly seconds: number
  /** The most flows of the window; 0: no limit. */
  readonly flows: number
  readonly products: number
  /** First of the seeded carts that this job may use, one for each flow or shopper. */
  readonly firstCart: number
  /** Sent with every request, for example a credential. */
  readonly headers?: Readonly<Record<string, string>>
}

/** Times of one kind of request, milliseconds. */
export interface StepTimes {
  readonly count: number
  readonly p50: number
  readonly p99: number
}

/** What a load process saw in its window. */
export interface LoadReport {
  /** Flows that were answered as they should be. */
  readonly done: number
  /** Flows that were not, with how often each first wrong status came. */
  readonly failed: Readonly<Record<string, number>>
  /** Good flows per second, without the first fifth of the window, in which the first answers are still awaited. */
  readonly rate: number
  readonly p50: number
  readonly p99: number
  readonly steps: Readonly<Record<string, StepTimes>>
  /** Bytes of answers per flow. */
  readonly bytes: number
  /** CPU of the load process in the window, milliseconds. */
  readonly cpuMs: number
  /** From the start of the window to its last answer, seconds. */
  readonly seconds: number
  /** Orders in answers, over all of the job, warm-up included. */
  readonly orders: number
}

/** Parent to load process: the job, then `go` once it is warm. */
export type ToLoad = { readonly _tag: "job"; readonly job: LoadJob } | { readonly _tag: "go" }

/** Load process to parent: warm and quiet, then the report. */
export type FromLoad = { readonly _tag: "warm" } | { readonly _tag: "report"; readonly report: LoadReport }
