import { Context, type Effect } from "effect"
import type { CurrentActor } from "../access/Actor.ts"

/** What claiming a key found. */
export type Claim =
  /** The key is ours: do the work, then `finish` or `release`. `workId` stays the same when a dead owner is followed. */
  | { readonly _tag: "Claimed"; readonly workId: string }
  /** An earlier request with this key has not ended. */
  | { readonly _tag: "Running"; readonly workId: string }
  /** The key belongs to a request with another body or address. */
  | { readonly _tag: "OtherRequest" }
  /** The answer that the first request got. */
  | { readonly _tag: "Done"; readonly status: number; readonly body: string }

/** Memory of answered requests, per organization, caller and key (ARCHITECTURE invariant: safe retries). */
export class IdempotencyKeys extends Context.Service<IdempotencyKeys, {
  /** Takes the key or says who has it. `requestHash` tells the same request from another one. */
  readonly claim: (scope: string, key: string, requestHash: string) => Effect.Effect<Claim, never, CurrentActor>
  /** Keeps the key while the work takes its time; to be called every few seconds. */
  readonly renew: (scope: string, key: string) => Effect.Effect<void, never, CurrentActor>
  /** Stores the answer, as sent. */
  readonly finish: (
    scope: string,
    key: string,
    status: number,
    body: string
  ) => Effect.Effect<void, never, CurrentActor>
  /** Gives the key back after a request that changed nothing, unless it belongs to other work since. */
  readonly release: (scope: string, key: string, workId: string) => Effect.Effect<void, never, CurrentActor>
  /** Forgets answers older than the window; at most 1,000 a call. Gives how many went. */
  readonly purge: (olderThanHours: number) => Effect.Effect<number>
}>()("stoa/domain/idempotency/IdempotencyKeys") {}
