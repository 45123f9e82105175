import { Effect } from "effect"
import type { Headers } from "effect/http"
import type { Actor } from "../../domain/access/Actor.ts"
import { CacheInvalidation } from "../../domain/access/CacheInvalidation.ts"
import {
  type Forbidden,
  type OrgResolutionFailed,
  TooManyRequests,
  type TwoFactorRequired,
  Unauthorized
} from "../../domain/errors/ApiErrors.ts"
import { Actors, type Caller } from "../access/Actors.ts"
import { originOf } from "../middleware/AccessLayer.ts"
import { RateLimiting } from "../server/RateLimiting.ts"
import type { RequestFacts } from "../server/RequestId.ts"
import type { OwnRate } from "../server/RouteRate.ts"
import type { CallHeaders } from "./CallHeaders.ts"
import type { Connection, Found } from "./RpcConnection.ts"

/** How often it is looked whether whoever reads a stream still may. */
const lookEvery = "1 second"

/** What is asked of the deployment's own resolver of organizations, which sees requests. */
const asked = { method: "POST", url: "/rpc" }

/** How long a connection's caller is remembered at most: a key that runs out is noticed so much later. */
const rememberMs = 1_000

type Refused = Unauthorized | OrgResolutionFailed | TwoFactorRequired | TooManyRequests

const actorOf = (caller: Caller, headers: CallHeaders, { remoteAddress }: Connection): Actor => {
  const { credential: _, metered: __, rateLimit: ___, renewedCookie: ____, ...found } = caller
  return { ...found, ...originOf({ headers: headers.all, remoteAddress }) }
}

/** Finds out who calls, and counts him against the same limits as over HTTP. */
export const makeCallers = Effect.gen(function*() {
  const [actors, limiting] = yield* Effect.all([Actors, RateLimiting])
  const watch = (yield* CacheInvalidation).open<true>({ capacity: 1, lifeMs: 1 })

  /** Whether this process hears of revoked keys, and has heard of no change since then: only then is anything kept. */
  const isHeard = (changes: number): boolean => {
    watch.keep("heard", true, [], 0, changes)
    return watch.find("heard", 0) === true
  }

  /** 401 also for whoever shows a session: calls are for services. */
  const identified = Effect.fnUntraced(function*(headers: Headers.Headers, mayGuess?: Effect.Effect<boolean>) {
    const caller = yield* actors.fromHeaders(headers, { ...asked, ...(mayGuess && { mayGuess }) })
    return caller.credential === "key" || caller.credential === "test"
      ? caller
      : yield* Unauthorized.of("Calls need an API key in x-api-key.")
  })

  /** Who this is; whoever cannot say so is counted by his address. */
  const found = (headers: CallHeaders, connection: Connection): Effect.Effect<Found, Refused> => {
    const changes = watch.changes
    return identified(headers.all, limiting.mayGuess(connection, {})).pipe(
      Effect.tapErrorTag("Unauthorized", () => limiting.guessed(connection)),
      Effect.tapError(() =>
        Effect.flatMap(
          limiting.stranger(connection, {}),
          (so) => so ? Effect.void : Effect.fail(TooManyRequests.of())
        )
      ),
      Effect.map((caller) => {
        const lasting = caller.credential === "key" && caller.metered !== true
        const found: Found = { caller, actor: actorOf(caller, headers, connection) }
        const until = performance.now() + rememberMs
        connection.caller = lasting && isHeard(changes) ? { headers, found, changes, until } : undefined
        return found
      })
    )
  }

  /**
   * The same as on the last call of the connection, where nothing changed since: finding out who shows a key was half of the
   * work of a small call.
   */
  const known = (headers: CallHeaders, connection: Connection): Found | undefined => {
    const { caller: last } = connection
    return last !== undefined && last.changes === watch.changes && performance.now() < last.until &&
        headers.showsTheSameAs(last.headers)
      ? last.found
      : undefined
  }

  const admitted = (found: Found, connection: Connection, own: OwnRate | undefined) => {
    const facts: RequestFacts = {}
    return Effect.flatMap(limiting.identify(connection, facts, found.caller, own), (so) => {
      if (!so) return Effect.fail(TooManyRequests.of())
      connection.known = true
      if (facts.standing !== undefined) connection.facts.standing = facts.standing
      return Effect.succeed(found)
    })
  }

  const counted = (headers: CallHeaders, connection: Connection, own: OwnRate | undefined) => {
    const last = known(headers, connection)
    return last === undefined
      ? Effect.flatMap(found(headers, connection), (found) => admitted(found, connection, own))
      : admitted(last, connection, own)
  }

  /** Until the window has room for one more request of this caller. */
  const paceOf = (connection: Connection, caller: Caller): Effect.Effect<void> =>
    Effect.suspend(() => {
      const facts: RequestFacts = {}
      return Effect.flatMap(limiting.identify(connection, facts, caller, undefined), (so) =>
        so
          ? Effect.void
          : Effect.andThen(Effect.sleep(facts.standing?.resetsInMs ?? 1_000), paceOf(connection, caller)))
    })

  /** Fails once whoever reads a stream may not any more: his key was revoked, or its role lost the permission. */
  const watched = (headers: Headers.Headers, may: (actor: Actor) => Effect.Effect<void, Unauthorized | Forbidden>) =>
    Effect.flatMap(identified(headers), may).pipe(Effect.delay(lookEvery), Effect.forever)

  return { counted, paceOf, watched }
})
