import { Context, Effect, Record, type Schema } from "effect"
import { HttpApi, HttpApiBuilder } from "effect/http-api"
import { CurrentActor } from "../../../domain/platform/access/Actor.ts"
import { type PageOf, pageOf, pageQuery, type PageRequest } from "../../../domain/platform/paging/Paging.ts"
import type { RefusalShape } from "../../../http/server/Refusals.ts"
import type { PluginCall } from "../PluginCall.ts"
import { builtRaw, type OfRequest, type RawAnswer, type RawCall } from "./RawRoute.ts"
import {
  type Described,
  groupOf,
  type HeaderFields,
  type Method,
  nameOf,
  type ParamsOf,
  type QueryFields,
  type RawOptions,
  type RouteOptions
} from "./RouteShape.ts"
import { inEnvelope, type RouteError } from "./RouteTools.ts"

/** The call of a route (spec §2, plugin route builder; contract, platform §14). */
export interface RouteCall<Input, Query, Params, Headers = {}> extends PluginCall {
  /** The body; undefined where the route takes none. */
  readonly input: Input
  readonly query: Query
  /** Those that the route names. */
  readonly headers: Headers
  readonly params: Params
  /** The page that is asked for; for lists. */
  readonly page: PageRequest
}

/** A route as it is served: a group of one endpoint and the layer that answers it. */
export type BuiltRoute = ReturnType<typeof built>

/** A route that a plugin brings. `R` is what its handler needs of the plugin's services. */
export interface Route<R = never> {
  readonly described: Described
  /** Made once, while the process starts. */
  readonly build: (call: Effect.Effect<PluginCall, never, CurrentActor>, services: Context.Context<R>) => BuiltRoute
}

type AnyCall = RouteCall<unknown, unknown, unknown>

const textOf = (query: object, name: string): string | undefined => {
  const value: unknown = Reflect.get(query, name)
  return typeof value === "string" ? value : Array.isArray(value) ? String(value[0]) : undefined
}

/** The parameters of a list but for its page, so that a handler may hand them on as a filter. */
const ownQuery = (query: object): object =>
  Object.fromEntries(Object.entries(query).filter(([name]) => !(name in pageQuery)))

const built = (
  described: Described,
  begun: Effect.Effect<PluginCall, never, CurrentActor>,
  answer: (call: AnyCall) => Effect.Effect<unknown, RouteError, CurrentActor>
) => {
  const group = groupOf(described)
  const layer = HttpApiBuilder.group(
    HttpApi.make("stoa").add(group),
    nameOf(described),
    (handlers) =>
      handlers.handle("run", (request) =>
        Effect.gen(function*() {
          // Assigned, not spread: what a handler does not touch of its call is not made.
          const call: AnyCall = Object.assign(yield* begun, {
            input: "payload" in request ? request.payload : undefined,
            query: described.isList ? ownQuery(request.query) : request.query,
            params: request.params,
            headers: described.headers === undefined ? {} : request.headers,
            page: pageOf(Record.map(pageQuery, (_, name) => textOf(request.query, name)))
          })
          return (yield* runOf(described)(inEnvelope(answer(call)))) ?? null
        }))
  )
  return { described, group, layer }
}

/** Changes of a repeatable route write no idempotency record: there are several, and a repeat finds them. */
const runOf = ({ repeatable }: Described) => <A, E, R>(work: Effect.Effect<A, E, R | CurrentActor>) =>
  repeatable === true ? Effect.updateService(work, CurrentActor, ({ executionId: _, ...actor }) => actor) : work

/** A route that has no handler yet: what `*Api.ts` files export, for `*Http.ts` files to answer. */
export interface RouteShape<Input, Query, Params, Answer, Headers = {}> {
  readonly described: Described
  /** Says what answers it. */
  readonly handle: <R>(
    answer: (
      call: RouteCall<Input, Query, Params, Headers>
    ) => Effect.Effect<NoInfer<Answer>, RouteError, R | CurrentActor>
  ) => Route<Exclude<R, CurrentActor>>
}

const shape = <Input, Query, Params, Answer, Headers>(
  described: Described
): RouteShape<Input, Query, Params, Answer, Headers> => ({
  described,
  handle: <R>(
    answer: (call: RouteCall<Input, Query, Params, Headers>) => Effect.Effect<Answer, RouteError, R | CurrentActor>
  ): Route<Exclude<R, CurrentActor>> => ({
    described,
    build: (begun, services) =>
      built(described, begun, (call) =>
        Effect.updateContext(
          // The schemas of the endpoint are those that these types were read from.
          answer(call as RouteCall<Input, Query, Params, Headers>),
          (ofRequest: Context.Context<CurrentActor>) =>
            Context.merge(services, ofRequest) as Context.Context<R | CurrentActor>
        ))
  })
})

type QueryOf<Query extends QueryFields> = Schema.Struct<Query>["Type"]
type HeadersOf<Headers extends HeaderFields> = Schema.Struct<Headers>["Type"]
type ParamValues<Path extends string> = { readonly [Name in ParamsOf<Path>]: string }

/** What all routes of a group have in common. */
export interface GroupOptions {
  /** Paths begin with the prefix alone, not with `/api`: `/.well-known/…`. Addresses of the core end the start. */
  readonly outsideApi?: boolean
}

/** What all routes of a group of bytes have in common. */
export interface RawGroupOptions extends GroupOptions {
  /**
   * The shape of every refusal: of access, limits, query and params, of `RouteError`s and of defects. For protocols that have
   * one of their own.
   */
  readonly failed: RefusalShape
}

interface GroupOf extends GroupOptions, Partial<RawGroupOptions> {
  readonly tag: string
  readonly prefix: string
}

const prefixed = ({ outsideApi, prefix }: GroupOf, path: string): `/${string}` => {
  const base = outsideApi === true || prefix.startsWith("/api") ? prefix : `/api${prefix}`
  return `/${`${base}/${path}`.split("/").filter((part) => part !== "").join("/")}`
}

const describe = <const Path extends string, Query extends QueryFields>(
  of: GroupOf,
  method: Method,
  path: Path,
  { params, query, ...options }: RouteOptions<Path, unknown, Query, unknown, HeaderFields>,
  isList: boolean
): Described => ({
  ...options,
  tag: of.tag,
  method,
  path: prefixed(of, path.replace(/\{(\w+)\}/g, ":$1")),
  outsideApi: of.outsideApi,
  failed: of.failed,
  isList,
  query: query ?? {},
  params: { ...params }
})

const rawRoutesOf = (of: GroupOf) => ({
  /**
   * A route of bytes, for webhooks, redirects, receipts and files: the handler gets the body and the headers as they
   * came, and says status, headers and body of the answer. Access, limits and request id are those of other routes.
   */
  raw: <const Path extends string, R = never, Query extends QueryFields = {}>(
    method: Method,
    path: Path,
    { accepts, idempotent, produces, ...options }: RawOptions<Path, Query>,
    answer: (
      call: RawCall<QueryOf<Query>, ParamValues<Path>>
    ) => Effect.Effect<RawAnswer<R | OfRequest>, RouteError, R | OfRequest>
  ): Route<Exclude<R, OfRequest>> => {
    const raw = { ...(accepts && { accepts }), ...(produces && { produces }), ...(idempotent && { idempotent }) }
    const described = { ...describe(of, method, path, options, false), raw }
    return {
      described,
      build: (begun, services) =>
        // The schemas of the endpoint are those that these types were read from.
        builtRaw<R>(described, begun, services, (call) => answer(call as RawCall<QueryOf<Query>, ParamValues<Path>>))
    }
  }
})

const routesOf = (of: GroupOf) => {
  const method = (method: Method) =>
  <
    const Path extends string,
    Success = unknown,
    Input = undefined,
    Query extends QueryFields = {},
    Headers extends HeaderFields = {}
  >(
    path: Path,
    options: RouteOptions<Path, Input, Query, Success, Headers>
  ) =>
    shape<Input, QueryOf<Query>, ParamValues<Path>, Success, HeadersOf<Headers>>(
      describe(of, method, path, options, false)
    )
  return {
    get: method("GET"),
    post: method("POST"),
    put: method("PUT"),
    patch: method("PATCH"),
    delete: method("DELETE"),
    /** A GET of a list: takes `page` and `limit`, answers with `meta.pagination` (spec §8). */
    list: <
      const Path extends string,
      Success = unknown,
      Query extends QueryFields = {},
      Headers extends HeaderFields = {}
    >(
      path: Path,
      options: RouteOptions<Path, undefined, Query, Success, Headers>
    ) =>
      shape<undefined, QueryOf<Query>, ParamValues<Path>, PageOf<Success>, HeadersOf<Headers>>(
        describe(of, "GET", path, options, true)
      ),
    ...rawRoutesOf(of)
  }
}

interface Grouping {
  /** With `failed`: routes of bytes alone, since JSON routes answer in the envelope. */
  (tag: string, prefix: string, options: RawGroupOptions): ReturnType<typeof rawRoutesOf>
  (tag: string, prefix: string, options?: GroupOptions): ReturnType<typeof routesOf>
}

/**
 * A group of routes: a tag of the document and a prefix, to which `/api` is added (spec §2). Parameters of paths are
 * written `:id` and are UUIDs; POST answers 201, other methods 200; what a handler gives is wrapped in `{ data }`.
 */
export const group: Grouping = (tag, prefix, options: GroupOptions | RawGroupOptions = {}) =>
  routesOf({ tag, prefix, ...options })
