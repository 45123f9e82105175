import { Context, Effect, type Scope, Stream } from "effect"
import { type HttpServerRequest, HttpServerResponse } from "effect/http"
import { HttpApi, HttpApiBuilder } from "effect/http-api"
import type { CurrentActor } from "../../../domain/platform/access/Actor.ts"
import { CurrentRequest } from "../../../http/server/RequestId.ts"
import type { PluginCall } from "../PluginCall.ts"
import { type Described, groupOf, nameOf } from "./RouteShape.ts"
import { inEnvelope, type RouteError } from "./RouteTools.ts"

/** The call of a route of bytes, with the request as it came. */
export interface RawCall<Query, Params> extends PluginCall {
  /** The body; empty without one. At most 1 MB, as for every route. */
  readonly body: Uint8Array
  /** By name, in small letters. */
  readonly headers: Readonly<Record<string, string>>
  /** Path and query as they came, for signatures over them. */
  readonly url: string
  readonly query: Query
  readonly params: Params
}

/** What a route of bytes has from its request; the scope ends when the whole answer has gone out, or its client. */
export type OfRequest = CurrentActor | Scope.Scope

/** What goes out, as it is. */
export interface RawAnswer<R> {
  /** Default 200. */
  readonly status?: number
  readonly headers?: Readonly<Record<string, string>>
  /** A stream is sent while it is made: its failure cuts the answer off. */
  readonly body?: string | Uint8Array | Stream.Stream<Uint8Array, unknown, R>
}

type AnyCall = RawCall<unknown, unknown>

const responseOf = <R>(
  { body, headers = {}, status = 200 }: RawAnswer<R>,
  produces: string | undefined,
  services: Context.Context<R>
) => {
  const contentType = headers["content-type"] ?? produces
  const options = { status, headers, ...(contentType === undefined ? {} : { contentType }) }
  if (body === undefined) return HttpServerResponse.empty({ status, headers })
  if (typeof body === "string") return HttpServerResponse.text(body, options)
  return body instanceof Uint8Array
    ? HttpServerResponse.uint8Array(body, options)
    : HttpServerResponse.stream(Stream.provideContext(body, services), options)
}

/** The bytes of a body; one that cannot be read (too large, cut off) is the edge's to answer. */
const bodyOf = (request: HttpServerRequest.HttpServerRequest) =>
  request.method === "GET"
    ? Effect.succeed(new Uint8Array())
    : Effect.map(Effect.catch(request.arrayBuffer, Effect.die), (buffer) => new Uint8Array(buffer))

/** A route that is given the request as it came, and whose answer goes out without an envelope. */
export const builtRaw = <R>(
  described: Described,
  begun: Effect.Effect<PluginCall, never, CurrentActor>,
  services: Context.Context<Exclude<R, OfRequest>>,
  answer: (call: AnyCall) => Effect.Effect<RawAnswer<R | OfRequest>, RouteError, R | OfRequest>
) => {
  const group = groupOf(described)
  const answered = Effect.fnUntraced(function*(call: AnyCall) {
    const ofRequest = yield* Effect.context<OfRequest>()
    const all = Context.merge(services, ofRequest) as Context.Context<R | OfRequest>
    const given = yield* Effect.provideContext(answer(call), all)
    if (described.raw?.idempotent === true && typeof given.body === "object") {
      return yield* Effect.die(new Error(`${nameOf(described)} is idempotent, so its answer has to be a text.`))
    }
    const facts = yield* CurrentRequest
    if (facts !== undefined) facts.isRaw = true
    return responseOf(given, described.raw?.produces, all)
  })
  const layer = HttpApiBuilder.group(
    HttpApi.make("stoa").add(group),
    nameOf(described),
    (handlers) =>
      handlers.handleRaw("run", ({ params, query, request }) =>
        Effect.gen(function*() {
          const call: AnyCall = Object.assign(yield* begun, {
            body: yield* bodyOf(request),
            headers: { ...request.headers },
            url: request.originalUrl,
            query,
            params
          })
          return yield* inEnvelope(answered(call))
        }))
  )
  return { described, group, layer }
}
