import { Context, type Effect } from "effect"
import type { Headers } from "effect/http"
import type { Actor } from "../../domain/platform/access/Actor.ts"
import type {
  OrgResolutionFailed,
  TooManyRequests,
  TwoFactorRequired,
  Unauthorized
} from "../../domain/platform/errors/ApiErrors.ts"

export type Credential = "none" | "cookie" | "bearer" | "key" | "test"

export interface Caller extends Actor {
  readonly credential: Credential
  readonly keyId?: string
  readonly rateLimit?: { readonly limit: number; readonly windowMs: number }
  readonly metered?: true
  readonly renewedCookie?: string
}

export interface Asked {
  readonly method: string
  readonly url: string
  readonly storeless?: boolean
  /** Checked before a look-up of possible guesses; false refuses the request. */
  readonly mayGuess?: Effect.Effect<boolean> | undefined
  /** Checks an open stream: uses no key and extends no session. */
  readonly isRepeat?: boolean
}

/** Resolves a request's credentials to an actor (contract, platform §2); see `layers/Actors.ts`. */
export class Actors extends Context.Service<Actors, {
  /**
   * An anonymous shopper without credentials. 401 for invalid ones, 403 without a required second factor, 429 when
   * `mayGuess` is false, 503 for an unresolved organization.
   */
  readonly fromHeaders: (
    headers: Headers.Headers,
    asked?: Asked
  ) => Effect.Effect<Caller, Unauthorized | OrgResolutionFailed | TwoFactorRequired | TooManyRequests>
  /** For `/api/auth`: API keys and invalid credentials are anonymous; a missing second factor is not refused. */
  readonly fromSession: (headers: Headers.Headers) => Effect.Effect<Caller>
}>()("stoa/http/access/Actors") {}
