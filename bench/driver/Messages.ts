import type { Variant } from "./Variant.ts"

/** What the process of one variant is to do. */
export interface DriverJob {
  readonly variant: Variant
  readonly url: string
  /** Flows at once. */
  readonly users: number
  readonly warmup: number
  readonly flows: number
}

export interface DriverReport {
  readonly seconds: number
  readonly p50: number
  readonly cpuMs: number
  /** Write calls of the process per flow: how many packets it hands to the system. */
  readonly writes: number
  /** How often the kept statements of one connection ran with a generic and with a custom plan. */
  readonly plans: { readonly generic: number; readonly custom: number }
}

/** Parent to the process of a variant: the job, `go` once it is warm, `end` once PostgreSQL's processes were read. */
export type ToDriver = { readonly _tag: "job"; readonly job: DriverJob } | { readonly _tag: "go" | "end" }

export type FromDriver = { readonly _tag: "warm" } | { readonly _tag: "report"; readonly report: DriverReport }
