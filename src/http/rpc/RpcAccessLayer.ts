import { Cause, Context, Effect, Exit, Layer, Metric, Option, Schema, type Types } from "effect"
import { Headers } from "effect/http"
import { type Rpc, type RpcMiddleware, RpcSchema } from "effect/rpc"
import { Access, type AccessRule, admit } from "../../domain/access/AccessRule.ts"
import { type Actor, CurrentActor } from "../../domain/access/Actor.ts"
import {
  Forbidden,
  TooManyRequests,
  Unauthorized,
  Unavailable,
  ValidationFailed
} from "../../domain/errors/ApiErrors.ts"
import { isWorthRepeating } from "../../domain/errors/Transience.ts"
import { Actors, type Caller } from "../access/Actors.ts"
import { originOf } from "../middleware/AccessLayer.ts"
import { IdempotentChange, OwnIdempotency } from "../middleware/Idempotency.ts"
import { fingerprint, keyScope, sentKey } from "../middleware/IdempotencyKey.ts"
import { IdempotentExecution } from "../middleware/IdempotentExecution.ts"
import { bounds } from "../server/Durations.ts"
import { isUnstorable, unstorableText } from "../server/Failure.ts"
import { RateLimiting } from "../server/RateLimiting.ts"
import { type RequestFacts, RequestId, requestIdOf } from "../server/RequestId.ts"
import { RouteRate } from "../server/RouteRate.ts"
import { type Connection, RpcConnection } from "./RpcConnection.ts"
import { Changes, type Refusal, RpcAccess } from "./RpcContract.ts"
import { PagePace } from "./RpcPages.ts"

/** Streams that one socket may have at once. */
const maxStreams = 64

const calls = Metric.counter("stoa_rpc_calls_total", {
  description: "Calls at /rpc that ended, by call and outcome",
  incremental: true
})
const durations = Metric.histogram("stoa_rpc_call_duration_seconds", {
  description: "Seconds from the arrival of a call to its end, by call; streams apart",
  boundaries: bounds
})

type Answer = RpcMiddleware.SuccessValue
type Handler = Effect.Effect<Answer, Refusal | Types.unhandled, CurrentActor>

interface Call {
  readonly rpc: Rpc.AnyWithProps
  readonly connection: Connection
  /** Those of the call over those of the request that opened its connection. */
  readonly headers: Headers.Headers
  readonly payload: unknown
  readonly requestId: string
}

const outcomeOf = (exit: Exit.Exit<unknown, unknown>): string => {
  if (Exit.isSuccess(exit)) return "ok"
  if (Cause.hasDies(exit.cause)) return "failed"
  return Option.isSome(Cause.findErrorOption(exit.cause)) ? "refused" : "interrupted"
}

/** Replaces a defect by what the caller may know: the request id. A database that is away is `Unavailable`. */
const withoutDetail = <E>(
  cause: Cause.Cause<E>,
  requestId: string
): Effect.Effect<never, E | Unavailable | ValidationFailed> => {
  if (!Cause.hasDies(cause)) return Effect.failCause(cause)
  const defect = Cause.squash(cause)
  if (isWorthRepeating(defect)) {
    return Effect.andThen(Effect.logWarning("call refused: the database did not answer", cause), Unavailable.of())
  }
  if (isUnstorable(defect)) return Effect.fail(unstorableText)
  return Effect.andThen(
    Effect.logError("call failed", cause),
    Effect.die({ code: "INTERNAL_ERROR", message: "An unexpected error occurred.", requestId })
  )
}

/** Finds the caller by the API key, and counts the call against the limits of HTTP requests. */
const makeCallers = Effect.gen(function*() {
  const [actors, limiting] = yield* Effect.all([Actors, RateLimiting])

  const identified = Effect.fnUntraced(function*(headers: Headers.Headers, mayGuess?: Effect.Effect<boolean>) {
    const asked = { method: "POST", url: "/rpc", ...(mayGuess && { mayGuess }) }
    const caller = yield* actors.fromHeaders(headers, asked)
    // Calls are for services: a session is 401 too.
    return caller.credential === "key" || caller.credential === "test"
      ? caller
      : yield* Unauthorized.of("Calls need an API key in x-api-key.")
  })

  const counted = Effect.fnUntraced(function*({ connection, headers, rpc }: Call) {
    const caller = yield* identified(headers, limiting.mayGuess(connection, {})).pipe(
      Effect.tapErrorTag("Unauthorized", () => limiting.guessed(connection)),
      Effect.tapError(() =>
        Effect.flatMap(
          limiting.outsider(connection, {}),
          (admitted) => admitted ? Effect.void : Effect.fail(TooManyRequests.of())
        )
      )
    )
    const facts: RequestFacts = {}
    const own = Context.getOrUndefined(rpc.annotations, RouteRate)
    if (!(yield* limiting.identify(connection, facts, caller, own))) return yield* TooManyRequests.of()
    connection.known = true
    if (facts.standing !== undefined) connection.facts.standing = facts.standing
    return caller
  })

  /** Waits until the limit has room for one more request of this caller. */
  const paced = (connection: Connection, caller: Caller): Effect.Effect<void> =>
    Effect.suspend(() => {
      const facts: RequestFacts = {}
      return Effect.flatMap(limiting.identify(connection, facts, caller, undefined), (admitted) =>
        admitted
          ? Effect.void
          : Effect.andThen(Effect.sleep(facts.standing?.resetsInMs ?? 1_000), paced(connection, caller)))
    })

  /** Fails once the reader of a stream may not read it any more: its key was revoked, or its role lost the permission. */
  const watched = (headers: Headers.Headers, rule: AccessRule) =>
    Effect.flatMap(identified(headers), (caller) => admit(caller, rule)).pipe(Effect.delay("1 second"), Effect.forever)

  return { counted, paced, watched }
})

/** Makes a change once for an `idempotency-key`, by the rules of requests over HTTP. */
const makeOnce = Effect.map(
  IdempotentExecution,
  (work) =>
    Effect.fnUntraced(function*({ connection, headers, payload, rpc }: Call, actor: Actor, handler: Handler) {
      const { annotations } = rpc
      const isIdempotent = Context.getOrUndefined(annotations, Changes) === true &&
        Context.getOrUndefined(annotations, OwnIdempotency) !== true
      const key = isIdempotent ? yield* sentKey({ headers }) : undefined
      if (key === undefined) return yield* Effect.provideService(handler, CurrentActor, actor)
      // The schemas of our calls need no services, which the type of any call does not say.
      const schema = rpc.successSchema as Schema.Codec<Answer, unknown>
      const text = Schema.fromJsonString(Schema.toCodecJson(schema))
      return yield* work.once({
        key,
        scope: keyScope(actor, { headers, remoteAddress: connection.remoteAddress }),
        print: fingerprint("RPC", rpc._tag, JSON.stringify(payload) ?? ""),
        repeatable: Context.getOrUndefined(annotations, IdempotentChange) === true,
        actor,
        owner: actor,
        keep: (answer) => ({ _tag: "Remember", status: 200, body: Schema.encodeSync(text)(answer) }),
        again: (_status, body) => Schema.decodeSync(text)(body)
      }, handler)
    })
)

/** The access rule of a call, once its caller may make it and its payload fits. */
const admitted = Effect.fnUntraced(function*({ headers, payload, rpc }: Call, caller: Caller) {
  const named = headers["x-organization-id"]
  if (named !== undefined && named !== caller.organizationId) {
    return yield* Forbidden.of("This key acts in another organization than the one in x-organization-id.")
  }
  const rule = Context.getOrUndefined(rpc.annotations, Access)
  if (rule === undefined) return yield* Forbidden.of("This call has no access rule.")
  yield* admit(caller, rule)
  if (payload instanceof ValidationFailed) return yield* payload
  return rule
})

/** `RpcAccess` over the keys of the deployment. */
export const rpcAccessLayer = Layer.effect(
  RpcAccess,
  Effect.gen(function*() {
    const { counted, paced, watched } = yield* makeCallers
    const once = yield* makeOnce

    const answered = Effect.fnUntraced(function*(call: Call, isStream: boolean, handler: Handler) {
      const { connection, headers, requestId } = call
      if (connection.draining) return yield* Unavailable.of("This process is about to end. Connect again.")
      const caller = yield* counted(call)
      const rule = yield* admitted(call, caller)
      const { credential: _, metered: __, rateLimit: ___, renewedCookie: ____, ...found } = caller
      const actor: Actor = { ...found, ...originOf({ headers, remoteAddress: connection.remoteAddress }), requestId }
      if (!isStream) return yield* once(call, actor, handler)
      if (connection.kind === "http") return yield* ValidationFailed.of("", "a stream needs a WebSocket")
      if (connection.streams > maxStreams) return yield* TooManyRequests.of()
      const reading = Effect.provideService(handler, PagePace, paced(connection, caller))
      return yield* Effect.raceFirst(Effect.provideService(reading, CurrentActor, actor), watched(headers, rule))
    })

    return RpcAccess.of(Effect.fnUntraced(function*(handler, { headers: sent, payload, rpc }) {
      const began = performance.now()
      const connection = yield* RpcConnection
      // A browser sends cookies from pages of strangers too.
      const headers = Headers.remove(sent, "cookie")
      const requestId = requestIdOf(headers["x-request-id"])
      const isStream = RpcSchema.isStreamSchema(rpc.successSchema)
      const open = isStream ? "streams" : "calls"
      connection[open]++
      return yield* answered({ connection, headers, payload, requestId, rpc }, isStream, handler).pipe(
        Effect.catchCause((cause) => withoutDetail(cause, requestId)),
        Effect.onExit((exit) => {
          connection[open]--
          const attributes = { call: rpc._tag }
          const seconds = (performance.now() - began) / 1_000
          return Effect.andThen(
            Metric.update(Metric.withAttributes(calls, { ...attributes, outcome: outcomeOf(exit) }), 1),
            isStream ? Effect.void : Metric.update(Metric.withAttributes(durations, attributes), seconds)
          )
        }),
        Effect.provideService(RequestId, requestId)
      )
    }))
  })
)
