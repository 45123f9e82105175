import { Context, type Effect } from "effect"
import type { Headers } from "effect/http"
import type { Actor } from "../../domain/access/Actor.ts"
import type { Unauthorized } from "../../domain/errors/ApiErrors.ts"

/**
 * Turns the credentials of a request into an actor (contract, platform §2). What stands behind it, keys, sessions,
 * store resolution, is wired in `layers`; the edge and the modules only know this.
 */
export class Actors extends Context.Service<Actors, {
  /** The actor of these headers: 401 for credentials that are not valid, an anonymous shopper where there are none. */
  readonly fromHeaders: (headers: Headers.Headers) => Effect.Effect<Actor, Unauthorized>
}>()("stoa/http/access/Actors") {}
