import { Context, type Effect, Schema } from "effect"
import type { CurrentActor } from "../access/Actor.ts"
import { ofForm } from "../text/Storable.ts"

/** The text of a key, in the header or in a body. Short keys are refused, since others could guess them. */
export const idempotencyKeyForm = /^[\x21-\x7e]{8,255}$/

/** A key in a body (contract §3.1). */
export const IdempotencyKey = Schema.String.check(
  ofForm(idempotencyKeyForm, "8 to 255 visible ASCII characters")
).annotate({ description: "Counts as the header Idempotency-Key, which wins." })

/** Result of claiming a key. */
export type Claim =
  /**
   * The caller holds the key: do the work, then `finish`, `release` or `doubt`. `executionId` stays the same when an
   * execution that died or ended in doubt is repeated (`isRepeat`): its lease ran out, and it may still be running.
   */
  | { readonly _tag: "Claimed"; readonly executionId: string; readonly isRepeat: boolean }
  /** An earlier request with this key is still running. */
  | { readonly _tag: "Running"; readonly executionId: string }
  /** The key belongs to a request with another body or address. */
  | { readonly _tag: "OtherRequest" }
  /**
   * An earlier request with this key ended without a stored response. `carriedOut`: its change was certainly made; else
   * the outcome is unknown.
   */
  | { readonly _tag: "InDoubt"; readonly carriedOut: boolean }
  /** The response of the first request. */
  | { readonly _tag: "Done"; readonly status: number; readonly body: string }

/** Stored responses per organization, caller and key (ARCHITECTURE invariant: safe retries). */
export class IdempotencyKeys extends Context.Service<IdempotencyKeys, {
  /**
   * Claims the key or reports its state. `requestHash` detects a different request. `repeatable`: the work may run
   * again under its id after an unknown outcome, because it finds its earlier result by that id or writes an
   * idempotency record with the change. A change with a record never runs again.
   */
  readonly claim: (
    scope: string,
    key: string,
    requestHash: string,
    repeatable: boolean
  ) => Effect.Effect<Claim, never, CurrentActor>
  /** Extends the claim during long work; call it every few seconds. */
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
  /** Marks the outcome as unknown, so that the next request need not wait for the lease. */
  readonly doubt: (scope: string, key: string, executionId: string) => Effect.Effect<void, never, CurrentActor>
  /** Deletes responses and records older than the window, at most 1,000 of each per call. Returns how many. */
  readonly purge: (olderThanHours: number) => Effect.Effect<number>
}>()("stoa/domain/platform/idempotency/IdempotencyKeys") {}
