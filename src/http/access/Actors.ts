import { Context, type Effect } from "effect"
import type { Headers } from "effect/http"
import type { Actor } from "../../domain/access/Actor.ts"
import type {
  OrgResolutionFailed,
  TooManyRequests,
  TwoFactorRequired,
  Unauthorized
} from "../../domain/errors/ApiErrors.ts"

/**
 * What authenticated a request: nothing, a session's cookie or token, an API key (also one that was sent as a bearer), or
 * a test that says who it is.
 */
export type Credential = "none" | "cookie" | "bearer" | "key" | "test"

/** An actor, and by what the request showed that it is his. */
export interface Caller extends Actor {
  readonly credential: Credential
  /** Of an API key: its id. Its requests are counted by it. */
  readonly keyId?: string
  /** Of an API key: its own limit of requests, in place of those that hold for every key. */
  readonly rateLimit?: { readonly limit: number; readonly windowMs: number }
  /** Of an API key each of whose uses counts: it is found out anew for each call. */
  readonly metered?: true
  /** Of a session that was given a later end just now: the cookie that tells the browser so (`Set-Cookie`). */
  readonly renewedCookie?: string
}

/** What is asked, as far as it matters for who asks. */
export interface Asked {
  readonly method: string
  /** Path and query. */
  readonly url: string
  /** The route serves no organization in particular, so none has to be found. */
  readonly storeless?: boolean
  /** Asked before credentials are looked up that nothing vouches for yet; false refuses the request. */
  readonly mayGuess?: Effect.Effect<boolean>
}

/**
 * Turns the credentials of a request into an actor (contract, platform §2). What stands behind it, keys, sessions,
 * store resolution, is wired in `layers`; the edge and the modules only know this.
 */
export class Actors extends Context.Service<Actors, {
  /**
   * The actor of these headers: 401 for credentials that are not valid, an anonymous shopper where there are none. 503
   * where his organization has to be found and cannot be, 403 where his role needs a second factor that he lacks, 429
   * where `mayGuess` says so.
   */
  readonly fromHeaders: (
    headers: Headers.Headers,
    asked?: Asked
  ) => Effect.Effect<Caller, Unauthorized | OrgResolutionFailed | TwoFactorRequired | TooManyRequests>
  /**
   * The user whose session these headers show, at `/api/auth`: there keys are nobody's, credentials that are worth nothing
   * are no reason to refuse, and whoever lacks a second factor comes to set one up.
   */
  readonly fromSession: (headers: Headers.Headers) => Effect.Effect<Caller>
}>()("stoa/http/access/Actors") {}
