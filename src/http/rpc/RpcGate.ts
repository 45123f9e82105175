import { Context, Effect, Layer, type Types } from "effect"
import { type Rpc, type RpcMiddleware, RpcSchema } from "effect/rpc"
import { Access, type AccessRule, admit } from "../../domain/access/AccessRule.ts"
import { type Actor, CurrentActor } from "../../domain/access/Actor.ts"
import type { CacheInvalidation } from "../../domain/access/CacheInvalidation.ts"
import { Forbidden, TooManyRequests, Unavailable, ValidationFailed } from "../../domain/errors/ApiErrors.ts"
import type { Actors } from "../access/Actors.ts"
import type { RateLimiting } from "../server/RateLimiting.ts"
import { RequestId, requestIdOf } from "../server/RequestId.ts"
import { type OwnRate, RouteRate } from "../server/RouteRate.ts"
import { CallHeaders } from "./CallHeaders.ts"
import { RpcAccess } from "./RpcAccess.ts"
import { makeCallers } from "./RpcCallers.ts"
import { type Connection, type Found, RpcConnection } from "./RpcConnection.ts"
import type { Refusal } from "./RpcErrors.ts"
import { RefusedPayload } from "./RpcFrames.ts"
import { RpcKeys } from "./RpcKeys.ts"
import { countCall } from "./RpcMetrics.ts"
import { outcomeOf, toldOf } from "./RpcOutcome.ts"
import { PagePace } from "./RpcPages.ts"

/** Streams that one socket may have at once. */
const maxStreams = 64

type Handler = Effect.Effect<RpcMiddleware.SuccessValue, Refusal | Types.unhandled, CurrentActor>

/** What the declaration of a call says of it. */
interface Kind {
  readonly isStream: boolean
  readonly rule: AccessRule | undefined
  readonly own: OwnRate | undefined
}

/** A call at the gate. */
interface Arrived {
  readonly rpc: Rpc.AnyWithProps
  readonly kind: Kind
  readonly connection: Connection
  readonly headers: CallHeaders
  readonly payload: unknown
  readonly requestId: string
}

/** Declarations are read once and not for each call. */
const makeKinds = () => {
  const known = new WeakMap<Rpc.AnyWithProps, Kind>()
  return (rpc: Rpc.AnyWithProps): Kind => {
    const found = known.get(rpc)
    if (found !== undefined) return found
    const made = {
      isStream: RpcSchema.isStreamSchema(rpc.successSchema),
      rule: Context.getOrUndefined(rpc.annotations, Access),
      own: Context.getOrUndefined(rpc.annotations, RouteRate)
    }
    known.set(rpc, made)
    return made
  }
}

/** A key may say for which organization it is meant: one that acts in another does not do there what was not meant. */
const isElsewhere = (actor: Actor, headers: CallHeaders): boolean => {
  const meant = headers.get("x-organization-id")
  return meant !== undefined && meant !== actor.organizationId
}

const streamable = (connection: Connection): Effect.Effect<void, ValidationFailed | TooManyRequests> => {
  if (connection.kind === "http") return Effect.fail(ValidationFailed.of("", "a stream needs a WebSocket"))
  return connection.streams > maxStreams ? Effect.fail(TooManyRequests.of()) : Effect.void
}

/*
 * Every call goes through here, and most are small: plain functions instead of generators, and nothing put together that is
 * not asked for.
 */
const makeGate = Effect.gen(function*() {
  const keys = yield* RpcKeys
  const { counted, paceOf, watched } = yield* makeCallers
  const kindOf = makeKinds()

  const judged = (found: Found, { headers, kind: { rule }, payload }: Arrived) => {
    if (isElsewhere(found.actor, headers)) {
      return Effect.fail(Forbidden.of("This key acts in another organization than the one in x-organization-id."))
    }
    if (rule === undefined) return Effect.fail(Forbidden.of("This call has no access rule."))
    return Effect.flatMap(
      admit(found.caller, rule),
      () => payload instanceof RefusedPayload ? Effect.fail(payload.refusal) : Effect.succeed(rule)
    )
  }

  const once = (call: Arrived, actor: Actor, handler: Handler) => keys.once({ ...call, actor }, handler)

  const streamed = (call: Arrived, { caller }: Found, actor: Actor, rule: AccessRule, handler: Handler) =>
    Effect.andThen(
      streamable(call.connection),
      Effect.raceFirst(
        Effect.provideService(
          Effect.provideService(handler, CurrentActor, actor),
          PagePace,
          paceOf(call.connection, caller)
        ),
        watched(call.headers.all, (now) => admit(now, rule))
      )
    )

  const answered = (call: Arrived, handler: Handler) => {
    const { connection, headers, kind, requestId } = call
    if (connection.draining) return Effect.fail(Unavailable.of("This process is about to end. Connect again."))
    return Effect.flatMap(
      counted(headers, connection, kind.own),
      (found) =>
        Effect.flatMap(judged(found, call), (rule) => {
          const actor: Actor = { ...found.actor, cartSecret: headers.get("x-cart-secret") ?? null, requestId }
          return kind.isStream ? streamed(call, found, actor, rule, handler) : once(call, actor, handler)
        })
    )
  }

  return RpcAccess.of((handler, { headers: sent, payload, rpc }) =>
    Effect.flatMap(RpcConnection, (connection) => {
      const began = performance.now()
      const headers = new CallHeaders(connection.headers, sent)
      const requestId = requestIdOf(headers.get("x-request-id"))
      const kind = kindOf(rpc)
      connection.begin(kind.isStream)
      const call = { connection, headers, kind, payload, requestId, rpc }
      return Effect.suspend(() => answered(call, handler)).pipe(
        Effect.catchCause((cause) => toldOf(cause, requestId)),
        Effect.onExit((exit) => {
          connection.end(kind.isStream)
          const seconds = kind.isStream ? undefined : (performance.now() - began) / 1_000
          countCall(rpc._tag, outcomeOf(exit), seconds)
          return Effect.void
        }),
        Effect.provideService(RequestId, requestId)
      )
    })
  )
})

/** `RpcAccess` over the keys of the deployment. */
export const rpcGateLayer: Layer.Layer<RpcAccess, never, Actors | RateLimiting | RpcKeys | CacheInvalidation> = Layer
  .effect(
    RpcAccess,
    makeGate
  )
