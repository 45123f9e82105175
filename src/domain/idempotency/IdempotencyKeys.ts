import { Context, type Effect } from "effect"
import type { CurrentActor } from "../access/Actor.ts"

/** What claiming a key found. */
export type Claim =
  /**
   * The key is ours: do the work, then `finish`, `release` or `doubt`. `workId` stays the same when one who died, or does
   * not know how his work ended, is followed.
   */
  | { readonly _tag: "Claimed"; readonly executionId: string }
  /** An earlier request with this key has not ended. */
  | { readonly _tag: "Running"; readonly executionId: string }
  /** The key belongs to a request with another body or address. */
  | { readonly _tag: "OtherRequest" }
  /**
   * An earlier request with this key ended without an answer that anybody knows. `carriedOut`: its change was made for
   * certain; else nobody knows.
   */
  | { readonly _tag: "InDoubt"; readonly carriedOut: boolean }
  /** The answer that the first request got. */
  | { readonly _tag: "Done"; readonly status: number; readonly body: string }

/** Memory of answered requests, per organization, caller and key (ARCHITECTURE invariant: safe retries). */
export class IdempotencyKeys extends Context.Service<IdempotencyKeys, {
  /**
   * Takes the key or says who has it. `requestHash` tells the same request from another one. `repeatable`: the work may
   * be begun again under its id when nobody knows how it ended, because it finds by that id what was done, or marks its
   * change with it; a change that bears the mark is never begun again.
   */
  readonly claim: (
    scope: string,
    key: string,
    requestHash: string,
    repeatable: boolean
  ) => Effect.Effect<Claim, never, CurrentActor>
  /** Keeps the key while the work takes its time; to be called every few seconds. */
  readonly renew: (scope: string, key: string) => Effect.Effect<void, never, CurrentActor>
  /** Stores the answer as sent, readable with the key alone. */
  readonly finish: (
    scope: string,
    key: string,
    executionId: string,
    status: number,
    body: string
  ) => Effect.Effect<void, never, CurrentActor>
  /** Gives the key back after a request that changed nothing, unless it belongs to other work since. */
  readonly release: (scope: string, key: string, executionId: string) => Effect.Effect<void, never, CurrentActor>
  /** Says that nobody knows how the work ended: whoever comes next need not wait for it. */
  readonly doubt: (scope: string, key: string, executionId: string) => Effect.Effect<void, never, CurrentActor>
  /** Forgets answers and marks older than the window; at most 1,000 of each a call. Gives how many went. */
  readonly purge: (olderThanHours: number) => Effect.Effect<number>
}>()("stoa/domain/idempotency/IdempotencyKeys") {}
