import type { Effect } from "effect"
import type { CurrentActor } from "../access/Actor.ts"
import type { Issue } from "../errors/ApiErrors.ts"

/** What became of one record of a batch. */
export type Outcome =
  | { readonly _tag: "created" | "updated" | "unchanged" }
  | { readonly _tag: "refused"; readonly issues: ReadonlyArray<Issue> }

/** What a batch came to, in the order of its records. */
export interface BatchResult {
  readonly outcomes: ReadonlyArray<Outcome>
  /** Tells the after-hooks; to be run once the batch is committed, and never for one that was only tried. */
  readonly told: Effect.Effect<void, never, CurrentActor>
}

/** One thing that is wrong with a record. */
export const refusedFor = (path: string, message: string, code = "invalid"): Outcome => ({
  _tag: "refused",
  issues: [{ path, message, code }]
})
