import { Context, Effect, Layer } from "effect"
import { Headers } from "effect/http"
import { type Rpc, RpcSchema } from "effect/rpc"
import { Access, admit } from "../../domain/access/AccessRule.ts"
import { type Actor, CurrentActor } from "../../domain/access/Actor.ts"
import type { WatchedCaches } from "../../domain/access/WatchedCaches.ts"
import { Forbidden, TooManyRequests, Unavailable, ValidationFailed } from "../../domain/errors/ApiErrors.ts"
import type { Actors } from "../access/Actors.ts"
import { originOf } from "../middleware/AccessLayer.ts"
import type { RateLimiting } from "../server/RateLimiting.ts"
import { RequestId, requestIdOf } from "../server/RequestId.ts"
import { RpcAccess } from "./RpcAccess.ts"
import { makeCallers } from "./RpcCallers.ts"
import { type Connection, RpcConnection } from "./RpcConnection.ts"
import { RefusedPayload } from "./RpcFrames.ts"
import { RpcKeys } from "./RpcKeys.ts"
import { countCall } from "./RpcMetrics.ts"
import { outcomeOf, toldOf } from "./RpcOutcome.ts"
import { PagePace } from "./RpcPages.ts"

/** Streams that one socket may have at once. */
const maxStreams = 64

/** Cookies are a browser's, which sends them from pages of strangers too: at `/rpc` they are nobody's. */
const withoutCookies = (headers: Headers.Headers): Headers.Headers =>
  headers["cookie"] === undefined ? headers : Headers.remove(headers, "cookie")

const headersOf = (connection: Connection, sent: Headers.Headers): Headers.Headers =>
  withoutCookies(Headers.merge(connection.headers, sent))

/** A key may say for which organization it is meant: one that acts in another does not do there what was not meant. */
const inItsOrganization = (actor: Actor, headers: Headers.Headers) => {
  const meant = headers["x-organization-id"]
  return meant === undefined || meant === actor.organizationId
    ? Effect.void
    : Effect.fail(Forbidden.of("This key acts in another organization than the one in x-organization-id."))
}

const makeGate = Effect.gen(function*() {
  const keys = yield* RpcKeys
  const { counted, paceOf, watched } = yield* makeCallers

  const allowed = Effect.fnUntraced(function*(
    connection: Connection,
    headers: Headers.Headers,
    rpc: Rpc.AnyWithProps,
    payload: unknown
  ) {
    if (connection.draining) return yield* Unavailable.of("This process is about to end. Connect again.")
    const caller = yield* counted(headers, connection, rpc)
    yield* inItsOrganization(caller, headers)
    const rule = Context.getOrUndefined(rpc.annotations, Access)
    if (rule === undefined) return yield* Forbidden.of("This call has no access rule.")
    yield* admit(caller, rule)
    if (payload instanceof RefusedPayload) return yield* payload.refusal
    return { caller, may: (actor: Actor) => admit(actor, rule) }
  })

  const streamable = (connection: Connection) => {
    if (connection.kind === "http") return Effect.fail(ValidationFailed.of("", "a stream needs a WebSocket"))
    return connection.streams > maxStreams ? Effect.fail(TooManyRequests.of()) : Effect.void
  }

  return RpcAccess.of((handler, { headers: sent, payload, rpc }) =>
    Effect.flatMap(RpcConnection, (connection) => {
      const began = performance.now()
      const stream = RpcSchema.isStreamSchema(rpc.successSchema)
      const headers = headersOf(connection, sent)
      const requestId = requestIdOf(headers["x-request-id"])
      connection.begin(stream)
      return Effect.gen(function*() {
        const { caller, may } = yield* allowed(connection, headers, rpc, payload)
        const { credential: _, metered: ____, rateLimit: __, renewedCookie: ___, ...found } = caller
        const cartSecret = headers["x-cart-secret"] ?? null
        const origin = originOf({ headers, remoteAddress: connection.remoteAddress })
        const actor: Actor = { ...found, ...origin, cartSecret, requestId }
        if (!stream) {
          return yield* keys.once({ actor, connection, headers, payload, rpc }, handler)
        }
        yield* streamable(connection)
        return yield* Effect.raceFirst(
          Effect.provideService(
            Effect.provideService(handler, CurrentActor, actor),
            PagePace,
            paceOf(connection, caller)
          ),
          watched(headers, may)
        )
      }).pipe(
        Effect.catchCause((cause) => toldOf(cause, requestId)),
        Effect.onExit((exit) => {
          connection.end(stream)
          countCall(rpc._tag, outcomeOf(exit), stream ? undefined : (performance.now() - began) / 1_000)
          return Effect.void
        }),
        Effect.provideService(RequestId, requestId)
      )
    })
  )
})

/** `RpcAccess` over the keys of the deployment. */
export const rpcGateLayer: Layer.Layer<RpcAccess, never, Actors | RateLimiting | RpcKeys | WatchedCaches> = Layer
  .effect(
    RpcAccess,
    makeGate
  )
