import { Context, Effect } from "effect"
import type { Headers } from "effect/http"
import type { Rpc } from "effect/rpc"
import type { Actor } from "../../domain/access/Actor.ts"
import { type Forbidden, TooManyRequests, Unauthorized } from "../../domain/errors/ApiErrors.ts"
import { Actors, type Caller } from "../access/Actors.ts"
import { RateLimiting } from "../server/RateLimiting.ts"
import type { RequestFacts } from "../server/RequestId.ts"
import { RouteRate } from "../server/RouteRate.ts"
import type { Connection } from "./RpcConnection.ts"

/** How often it is looked whether whoever reads a stream still may. */
const lookEvery = "1 second"

/** What is asked of the deployment's own resolver of organizations, which sees requests. */
const asked = { method: "POST", url: "/rpc" }

/** Finds out who calls, and counts him against the same limits as over HTTP. */
export const makeCallers = Effect.gen(function*() {
  const [actors, limiting] = yield* Effect.all([Actors, RateLimiting])

  /** 401 also for whoever shows a session: calls are for services. */
  const identified = Effect.fnUntraced(function*(headers: Headers.Headers) {
    const caller = yield* actors.fromHeaders(headers, asked)
    return caller.credential === "key" || caller.credential === "test"
      ? caller
      : yield* Unauthorized.of("Calls need an API key in x-api-key.")
  })

  const counted = Effect.fnUntraced(function*(headers: Headers.Headers, connection: Connection, rpc: Rpc.AnyWithProps) {
    const facts: RequestFacts = {}
    const caller = yield* identified(headers).pipe(
      Effect.tapError(() =>
        Effect.flatMap(
          limiting.stranger(connection, facts),
          (so) => so ? Effect.void : Effect.fail(TooManyRequests.of())
        )
      )
    )
    const own = Context.getOrUndefined(rpc.annotations, RouteRate)
    if (!(yield* limiting.identify(connection, facts, caller, own))) return yield* TooManyRequests.of()
    connection.known = true
    if (facts.standing !== undefined) connection.facts.standing = facts.standing
    return caller
  })

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
