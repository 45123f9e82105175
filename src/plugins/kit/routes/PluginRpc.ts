import { Context, type Effect, type Layer, Schema } from "effect"
import { Rpc, RpcGroup } from "effect/rpc"
import { Access } from "../../../domain/platform/access/AccessRule.ts"
import { RouteRate } from "../../../http/middleware/Access.ts"
import { failure, ReadOnly, RpcAccess } from "../../../http/rpc/StoaRpcs.ts"
import { type Guard, ruleOf } from "./RouteShape.ts"

/** What a call is, beside its name. */
export interface CallOptions<
  Payload extends Schema.Struct.Fields,
  Success extends Schema.Top,
  Failure extends Schema.Top
> extends Guard {
  readonly payload?: Payload
  /** Default: nothing. */
  readonly success?: Success
  /** What it fails with beside the errors that every call has. */
  readonly error?: Failure
  /** It changes nothing, so an `idempotency-key` does not count. */
  readonly reads?: true
  /** Few calls a minute of a key (`rateLimits.strict`). */
  readonly rate?: "strict"
}

class CallGuard extends Context.Service<CallGuard, Guard>()("stoa/plugins/kit/routes/CallGuard") {}

/**
 * A call of a plugin at `/rpc`, named `<plugin>.<name>`. Key, access rule, rate limits and idempotency are those of the
 * calls of the core, and so are the errors that it may fail with (`NotFound`, `Conflict`, `ValidationFailed`, …).
 */
export const rpcCall = <
  const Tag extends string,
  const Payload extends Schema.Struct.Fields = {},
  Success extends Schema.Codec<unknown, unknown> = Schema.Void,
  Failure extends Schema.Codec<unknown, unknown> = Schema.Never
>(tag: Tag, { error, payload, rate, reads, success, ...guard }: CallOptions<Payload, Success, Failure>) => {
  const rule = ruleOf(guard)
  const annotations = Context.make(CallGuard, guard).pipe(
    Context.merge(rule === undefined ? Context.empty() : Context.make(Access, rule)),
    Context.merge(rate === undefined ? Context.empty() : Context.make(RouteRate, `strict:${tag}`)),
    Context.merge(reads === undefined ? Context.empty() : Context.make(ReadOnly, true))
  )
  return Rpc.make(tag, {
    payload: Schema.Struct(payload ?? {} as Payload),
    ...(success && { success }),
    error: error === undefined ? failure : Schema.Union([failure, error])
  }).annotateMerge(annotations)
}

/** Calls of a plugin as one group: what clients import, `RpcClient.make(ClassRpcs)`. */
export const rpcGroup = <const Calls extends ReadonlyArray<Rpc.Any>>(...calls: Calls) =>
  RpcGroup.make(...calls).middleware(RpcAccess).annotateRpcs(Rpc.ParseOptions, { errors: "all" })

/** A call as the checks of a start see it. */
export interface DescribedCall extends Guard {
  readonly name: string
  readonly isGuarded: boolean
}

/** A group with what answers its calls; `R` is what they need of the plugin's services. */
export interface ServedRpc<R = never> {
  readonly group: RpcGroup.Any
  readonly calls: ReadonlyArray<DescribedCall>
  readonly layer: Layer.Layer<never, never, R>
}

/** Says what answers the calls of a group, for `rpc` of the manifest. */
export const serveRpc = <R extends Rpc.Any, Handlers extends RpcGroup.HandlersFrom<R>, RX = never>(
  group: RpcGroup.RpcGroup<R>,
  handlers: Handlers | Effect.Effect<Handlers, never, RX>
) => ({
  group,
  calls: Array.from(group.requests.values(), (rpc): DescribedCall => ({
    ...Context.getOrUndefined(rpc.annotations, CallGuard),
    name: rpc._tag,
    isGuarded: "middlewares" in rpc && rpc.middlewares instanceof Set && rpc.middlewares.has(RpcAccess)
  })),
  layer: group.toLayer(handlers)
})
