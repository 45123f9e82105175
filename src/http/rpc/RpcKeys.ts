import { Context, Effect, Layer, Schema } from "effect"
import type { Rpc, RpcMiddleware } from "effect/rpc"
import { type Actor, CurrentActor } from "../../domain/access/Actor.ts"
import type { Conflict, StillRunning, ValidationFailed } from "../../domain/errors/ApiErrors.ts"
import { MarkedChange, OwnIdempotency } from "../middleware/Idempotency.ts"
import { fingerprint, keyScope, sentKey } from "../middleware/IdempotencyKey.ts"
import { KeyedWork } from "../middleware/KeyedWork.ts"
import type { CallHeaders } from "./CallHeaders.ts"
import type { Connection } from "./RpcConnection.ts"
import { Changes } from "./RpcRules.ts"

/** A call that was let in. */
export interface LetIn {
  readonly rpc: Rpc.AnyWithProps
  readonly payload: unknown
  readonly headers: CallHeaders
  readonly connection: Connection
  readonly actor: Actor
}

type Answer = RpcMiddleware.SuccessValue

/**
 * Makes a change once for an `idempotency-key`, which a call carries as a header, as a request over HTTP does: the same
 * rules, the same memory (ARCHITECTURE invariant 4).
 */
export class RpcKeys extends Context.Service<RpcKeys, {
  readonly once: <E, R>(
    call: LetIn,
    handler: Effect.Effect<Answer, E, R | CurrentActor>
  ) => Effect.Effect<Answer, E | StillRunning | Conflict | ValidationFailed, Exclude<R, CurrentActor>>
}>()("stoa/http/rpc/RpcKeys") {
  static readonly layer = Layer.effect(RpcKeys, Effect.suspend(() => makeKeys))
}

/** An answer as text and back; codecs are made once for each call. */
const makeTexts = () => {
  const known = new WeakMap<Rpc.AnyWithProps, Schema.Codec<Answer, string>>()
  return (rpc: Rpc.AnyWithProps): Schema.Codec<Answer, string> => {
    const found = known.get(rpc)
    if (found !== undefined) return found
    // The middleware's type of an answer stands for whatever the schema of the call says; none of ours needs a service.
    const schema = rpc.successSchema as Schema.Codec<Answer, unknown>
    const made = Schema.fromJsonString(Schema.toCodecJson(schema))
    known.set(rpc, made)
    return made
  }
}

const isKeyed = ({ annotations }: Rpc.AnyWithProps): boolean =>
  Context.getOrUndefined(annotations, Changes) === true && Context.getOrUndefined(annotations, OwnIdempotency) !== true

const makeKeys = Effect.gen(function*() {
  const work = yield* KeyedWork
  const texts = makeTexts()
  const keyed = Effect.fnUntraced(function*<E, R>(
    { actor, connection, headers: { all: headers }, payload, rpc }: LetIn,
    handler: Effect.Effect<Answer, E, R | CurrentActor>
  ) {
    const key = yield* sentKey({ headers })
    if (key === undefined) return yield* Effect.provideService(handler, CurrentActor, actor)
    const text = texts(rpc)
    return yield* work.once({
      key,
      scope: keyScope(actor, { headers, remoteAddress: connection.remoteAddress }),
      print: fingerprint("RPC", rpc._tag, JSON.stringify(payload) ?? ""),
      repeatable: Context.getOrUndefined(rpc.annotations, MarkedChange) === true,
      actor,
      owner: actor,
      keep: (answer) => ({ _tag: "Remember", status: 200, body: Schema.encodeSync(text)(answer) }),
      again: (_status, body) => Schema.decodeSync(text)(body)
    }, handler)
  })
  return RpcKeys.of({
    once: (call, handler) =>
      call.headers.get("idempotency-key") !== undefined && isKeyed(call.rpc)
        ? keyed(call, handler)
        : Effect.provideService(handler, CurrentActor, call.actor)
  })
})
