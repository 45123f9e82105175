import { Context, type Effect, Schema } from "effect"
import type { CurrentActor } from "../access/Actor.ts"
import { ofForm } from "../text/Storable.ts"

/** Short keys are refused: others could guess them. */
export const idempotencyKeyForm = /^[\x21-\x7e]{8,255}$/

export const IdempotencyKey = Schema.String.check(
  ofForm(idempotencyKeyForm, "a text of 8 to 255 visible ASCII characters")
).annotate({ description: "Counts as the header Idempotency-Key, which wins." })

export type Claim =
  /**
   * The caller must `finish`, `release` or `doubt`. `executionId` stays the same in a repeat, and the first execution
   * may still run.
   */
  | { readonly _tag: "Claimed"; readonly executionId: string; readonly isRepeat: boolean }
  | { readonly _tag: "Running"; readonly executionId: string }
  | { readonly _tag: "OtherRequest" }
  /** Ended without a stored response. `carriedOut`: its change was certainly made; else unknown. */
  | { readonly _tag: "InDoubt"; readonly carriedOut: boolean }
  | { readonly _tag: "Done"; readonly status: number; readonly body: string }

/** Stored responses per organization, caller and key. */
export class IdempotencyKeys extends Context.Service<IdempotencyKeys, {
  /**
   * Claims the key or reports its state. `repeatable`: the work may run again after an unknown outcome, since it finds
   * its earlier result or writes an idempotency record. A change with a record never runs again.
   */
  readonly claim: (
    scope: string,
    key: string,
    requestHash: string,
    repeatable: boolean
  ) => Effect.Effect<Claim, never, CurrentActor>
  /** Extends the claim; call it every few seconds during long work. */
  readonly renew: (scope: string, key: string) => Effect.Effect<void, never, CurrentActor>
  /** Stores the response, encrypted with the key. */
  readonly finish: (
    scope: string,
    key: string,
    executionId: string,
    status: number,
    body: string
  ) => Effect.Effect<void, never, CurrentActor>
  /** Releases the key after a request that changed nothing, unless another execution has claimed it. */
  readonly release: (scope: string, key: string, executionId: string) => Effect.Effect<void, never, CurrentActor>
  /** Marks the outcome as unknown: the next request need not wait for the lease. */
  readonly doubt: (scope: string, key: string, executionId: string) => Effect.Effect<void, never, CurrentActor>
  /** Deletes at most 1,000 old responses and records each; returns the count. */
  readonly purge: (olderThanHours: number) => Effect.Effect<number>
}>()("stoa/domain/platform/idempotency/IdempotencyKeys") {}
