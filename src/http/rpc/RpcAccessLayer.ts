import { Cause, Context, Effect, Exit, Layer, Option, Schema, type Types } from "effect"
import { Headers } from "effect/http"
import { type Rpc, type RpcMiddleware, RpcSchema } from "effect/rpc"
import { Access, admit, NoAccessRule } from "../../domain/platform/access/AccessRule.ts"
import { CurrentActor } from "../../domain/platform/access/Actor.ts"
import { TooManyRequests, Unauthorized, Unavailable, ValidationFailed } from "../../domain/platform/errors/ApiErrors.ts"
import { forbidden, invalid } from "../../domain/platform/errors/ErrorKinds.ts"
import { isWorthRepeating } from "../../domain/platform/errors/Transience.ts"
import { Actors, type Asked, type Caller } from "../access/Actors.ts"
import { awaitRefusal, BeforeDelivery, checkReader, holdBack } from "../access/StreamAccess.ts"
import { RouteRate } from "../middleware/Access.ts"
import { actorOf } from "../middleware/AccessLayer.ts"
import { OwnIdempotency } from "../middleware/Idempotency.ts"
import { fingerprint, IdempotentExecution, sentKey } from "../middleware/IdempotentExecution.ts"
import { countCall } from "../server/Edge.ts"
import { isUnstorable, UnstorableText } from "../server/Failure.ts"
import { RateLimiting } from "../server/RateLimiting.ts"
import { type RequestFacts, RequestId, requestIdOf } from "../server/RequestId.ts"
import { type Connection, PagePace, RpcConnection } from "./RpcSockets.ts"
import { type Refusal, routeOf, RpcAccess } from "./StoaRpcs.ts"

export class OtherOrganization extends forbidden(
  "OtherOrganization",
  "This key acts in another organization than the one in x-organization-id."
) {}
export class SocketRequired extends invalid("SocketRequired", "", "A stream needs a WebSocket.") {}

const maxStreams = 64

type Answer = RpcMiddleware.SuccessValue
type Handler = Effect.Effect<Answer, Refusal | Types.unhandled, CurrentActor>

interface Call {
  readonly rpc: Rpc.AnyWithProps
  readonly route: Context.Context<never>
  readonly connection: Connection
  readonly headers: Headers.Headers
  readonly payload: unknown
  readonly isChange: boolean
  readonly isStream: boolean
  readonly requestId: string
}

const outcomeOf = (exit: Exit.Exit<unknown, unknown>): string => {
  if (Exit.isSuccess(exit)) return "ok"
  if (Cause.hasDies(exit.cause)) return "failed"
  return Option.isSome(Cause.findErrorOption(exit.cause)) ? "refused" : "interrupted"
}

/** Hides a defect's detail; an unavailable database is `Unavailable`. */
const withoutDetail = <E>(cause: Cause.Cause<E>, requestId: string) => {
  if (!Cause.hasDies(cause)) return Effect.failCause(cause)
  const defect = Cause.squash(cause)
  if (isWorthRepeating(defect)) {
    return Effect.andThen(Effect.logWarning("call refused: the database did not answer", cause), Unavailable.of())
  }
  if (isUnstorable(defect)) return Effect.fail(new UnstorableText())
  return Effect.andThen(
    Effect.logError("call failed", cause),
    Effect.die({ code: "INTERNAL_ERROR", message: "An unexpected error occurred.", requestId })
  )
}

/** Authenticates a call by its API key and counts it against the limits of HTTP requests. */
const makeCallers = Effect.gen(function*() {
  const [actors, limiting] = yield* Effect.all([Actors, RateLimiting])

  const identified = Effect.fnUntraced(function*(headers: Headers.Headers, how: Pick<Asked, "isRepeat" | "mayGuess">) {
    const caller = yield* actors.fromHeaders(headers, { method: "POST", url: "/rpc", ...how })
    // Calls are for services: a session is 401 too.
    return caller.credential === "key" || caller.credential === "test"
      ? caller
      : yield* Unauthorized.of("Calls need an API key in x-api-key.")
  })

  const counted = Effect.fnUntraced(function*({ connection, headers, route }: Call) {
    const caller = yield* identified(headers, { mayGuess: limiting.mayGuess(connection, {}) }).pipe(
      Effect.tapErrorTag("Unauthorized", () => limiting.guessed(connection)),
      Effect.tapError(() => limiting.outsider(connection, {}))
    )
    const facts: RequestFacts = {}
    yield* limiting.identify(connection, facts, caller, Context.getOrUndefined(route, RouteRate))
    connection.authenticated = true
    if (facts.standing !== undefined) connection.facts.standing = facts.standing
    return caller
  })

  const paced = (connection: Connection, caller: Caller) =>
    Effect.eventually(Effect.suspend(() => {
      const facts: RequestFacts = {}
      const pause = Effect.suspend(() => Effect.sleep(facts.standing?.resetsInMs ?? 1_000))
      return Effect.tapError(limiting.identify(connection, facts, caller, undefined), () => pause)
    }))

  return { counted, identified, paced }
})

/** Makes a change once for an `idempotency-key`, as over HTTP. */
const makeOnce = Effect.map(
  IdempotentExecution,
  ({ once }) =>
    Effect.fnUntraced(function*({ connection, headers, isChange, payload, route, rpc }: Call, handler: Handler) {
      const isIdempotent = isChange && Context.getOrUndefined(route, OwnIdempotency) !== true
      const key = isIdempotent ? yield* sentKey({ headers }) : undefined
      if (key === undefined) return yield* handler
      const text = Schema.fromJsonString(Schema.toCodecJson(rpc.successSchema as Schema.Codec<Answer, unknown>))
      return yield* once({
        key,
        shown: { headers, remoteAddress: connection.remoteAddress },
        print: fingerprint("RPC", rpc._tag, JSON.stringify(payload) ?? ""),
        annotations: route,
        keep: (answer) => ({ _tag: "Store", status: 200, body: Schema.encodeSync(text)(answer) }),
        again: (_status, body) => Schema.decodeSync(text)(body)
      }, handler)
    })
)

export const rpcAccessLayer = Layer.effect(
  RpcAccess,
  Effect.gen(function*() {
    const { counted, identified, paced } = yield* makeCallers
    const once = yield* makeOnce

    const answered = Effect.fnUntraced(function*(call: Call, handler: Handler) {
      const { connection, headers, payload, requestId, route } = call
      if (connection.draining) return yield* Unavailable.of("This process is about to end. Connect again.")
      const caller = yield* counted(call)
      const organization = headers["x-organization-id"]
      if (organization !== undefined && organization !== caller.organizationId) {
        return yield* new OtherOrganization()
      }
      const rule = Context.getOrUndefined(route, Access)
      if (rule === undefined) return yield* new NoAccessRule("call")
      yield* admit(caller, rule)
      if (payload instanceof ValidationFailed) return yield* payload
      const actor = { ...actorOf(caller, { headers, remoteAddress: connection.remoteAddress }), requestId }
      if (!call.isStream) return yield* Effect.provideService(once(call, handler), CurrentActor, actor)
      if (connection.kind === "http") return yield* new SocketRequired()
      if (connection.streams > maxStreams) return yield* TooManyRequests.of()
      const check = checkReader(identified(headers, { isRepeat: true }), actor, rule)
      const reading = handler.pipe(
        Effect.provideService(PagePace, paced(connection, caller)),
        Effect.provideService(BeforeDelivery, holdBack(check)),
        Effect.provideService(CurrentActor, actor)
      )
      return yield* Effect.raceFirst(reading, awaitRefusal(check))
    })

    return RpcAccess.of(Effect.fnUntraced(function*(handler, { headers: sent, payload, rpc }) {
      const began = performance.now()
      const connection = yield* RpcConnection
      // A browser sends cookies from pages of other sites too.
      const headers = Headers.remove(sent, "cookie")
      const requestId = requestIdOf(headers["x-request-id"])
      const isStream = RpcSchema.isStreamSchema(rpc.successSchema)
      const { annotations: route, method } = routeOf(rpc._tag, rpc.annotations)
      const call = { connection, headers, isChange: method !== "GET", isStream, payload, requestId, route, rpc }
      const open = isStream ? "streams" : "calls"
      connection[open]++
      return yield* answered(call, handler).pipe(
        Effect.catchCause((cause) => withoutDetail(cause, requestId)),
        Effect.onExit((exit) =>
          Effect.sync(() => {
            connection[open]--
            countCall(rpc._tag, outcomeOf(exit), isStream ? undefined : (performance.now() - began) / 1_000)
          })
        ),
        Effect.provideService(RequestId, requestId)
      )
    }))
  })
)
