import { Context, type Effect } from "effect"
import type { Headers } from "effect/http"
import type { Actor } from "../../domain/platform/access/Actor.ts"
import type {
  OrgResolutionFailed,
  TooManyRequests,
  TwoFactorRequired,
  Unauthorized
} from "../../domain/platform/errors/ApiErrors.ts"

/** What authenticated a request: nothing, a session's cookie or token, an API key (also as a bearer token), or a test. */
export type Credential = "none" | "cookie" | "bearer" | "key" | "test"

/** The actor of a request, and its credential. */
export interface Caller extends Actor {
  readonly credential: Credential
  /** The id of an API key, by which its requests are counted. */
  readonly keyId?: string
  /** The request limit of an API key, in place of the general one. */
  readonly rateLimit?: { readonly limit: number; readonly windowMs: number }
  /** An API key with a limited number of uses, which is looked up for each call. */
  readonly metered?: true
  /** The cookie of a session that was just extended (`Set-Cookie`). */
  readonly renewedCookie?: string
}

/** The parts of a request that matter for its actor. */
export interface Asked {
  readonly method: string
  /** Path and query. */
  readonly url: string
  /** The route belongs to no organization, so none has to be resolved. */
  readonly storeless?: boolean
  /** Checked before a look-up of credentials that may be guesses; false refuses the request. */
  readonly mayGuess?: Effect.Effect<boolean> | undefined
  /** Checks an open stream: takes no use of a key and extends no session. */
  readonly isRepeat?: boolean
}

/** Resolves the credentials of a request to an actor (contract, platform §2); implemented in `layers/Actors.ts`. */
export class Actors extends Context.Service<Actors, {
  /**
   * The actor of these headers: 401 for invalid credentials, an anonymous shopper without any. 503 when the organization
   * cannot be resolved, 403 when the role requires a missing second factor, 429 when `mayGuess` is false.
   */
  readonly fromHeaders: (
    headers: Headers.Headers,
    asked?: Asked
  ) => Effect.Effect<Caller, Unauthorized | OrgResolutionFailed | TwoFactorRequired | TooManyRequests>
  /**
   * The user of a session at `/api/auth`: API keys and invalid credentials give an anonymous actor there, and a missing
   * second factor is not refused, since its user may be about to set it up.
   */
  readonly fromSession: (headers: Headers.Headers) => Effect.Effect<Caller>
}>()("stoa/http/access/Actors") {}
