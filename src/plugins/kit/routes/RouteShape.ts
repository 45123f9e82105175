import { Context, Option, Schema, SchemaGetter } from "effect"
import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema, OpenApi } from "effect/http-api"
import { Access, type AccessRule, judgedBy, open } from "../../../domain/platform/access/AccessRule.ts"
import { type Actor, holds, isAnonymous } from "../../../domain/platform/access/Actor.ts"
import { Uuid } from "../../../domain/platform/ids/Id.ts"
import { pageQuery } from "../../../domain/platform/paging/Paging.ts"
import { NamedByAddress } from "../../../http/docs/OperationNames.ts"
import { Data, OptionalBody, Page } from "../../../http/envelope/Envelope.ts"
import { AccessControl, RouteRate } from "../../../http/middleware/Access.ts"
import { Errors, parseOptions } from "../../../http/middleware/Errors.ts"
import { StrictBody } from "../../../http/middleware/FieldHandling.ts"
import { Idempotency, IdempotentChange, NeverRepeated } from "../../../http/middleware/Idempotency.ts"
import { ExamplesFile } from "../../../http/openapi/Recorded.ts"
import { OwnRefusals, type RefusalShape } from "../../../http/server/Refusals.ts"
import type { Listing } from "../tables/Listing.ts"
import { type DocumentedError, errorSchema } from "./ApiError.ts"

export type Method = "GET" | "POST" | "PUT" | "PATCH" | "DELETE"

/** A schema of a body, a query or an answer. */
export type AnySchema = Schema.Codec<unknown, unknown>

/** Names of the parameters of a path: those of `/vendors/:id/documents/:docId` are `id` and `docId`. */
export type ParamsOf<Path extends string> = Path extends `${infer _}:${infer Name}/${infer Rest}`
  ? Name | ParamsOf<`/${Rest}`>
  : Path extends `${infer _}:${infer Name}` ? Name
  : never

/** What a route asks of its caller; without any of these a plugin does not start. */
export interface Guard {
  /** Callers that hold this permission; implies `auth`. */
  readonly permission?: string
  /** Everybody but a visitor without credentials. */
  readonly auth?: boolean
  /** Callers that the rule admits; the refusal names the missing permission. */
  readonly admits?: { readonly rule: (actor: Actor) => boolean; readonly missing: string }
  /** Everybody; says why that is right. */
  readonly public?: string
}

/** Query parameters by name. Each is a text, or what a schema makes of one. */
export type QueryFields = Readonly<Record<string, Schema.Codec<unknown, string | ReadonlyArray<string> | undefined>>>

/** Request headers by name, in small letters. Each is a text, or what a schema makes of one. */
export type HeaderFields = Readonly<Record<string, Schema.Codec<unknown, string | undefined>>>

/**
 * `strict`: few requests a minute of a caller or an address, as for what can be guessed (`rateLimits.strict`).
 * `checkout`: counted with the checkouts of the caller, as for what asks a payment provider (`rateLimits.checkout`).
 */
export type Rate = "strict" | "checkout"

/** What routes of every kind say beside their method and path. */
export interface CommonOptions<Path extends string, Query extends QueryFields> extends Guard {
  readonly summary?: string
  readonly description?: string
  /** Parameters of the query; `X-Ignored-Fields` names others. */
  readonly query?: Query
  /** Parameters of the path that are no UUIDs. */
  readonly params?: { readonly [Name in ParamsOf<Path>]?: Schema.Codec<string, string> }
  /** Errors of the plugin that it may answer with (`ApiError`), for the document. */
  readonly errors?: ReadonlyArray<DocumentedError>
  /** A limit beside that of all requests. */
  readonly rate?: Rate
}

/** What a route is, beside its method and path (spec §2, plugin manifest). */
export interface RouteOptions<
  Path extends string,
  Input,
  Query extends QueryFields,
  Success,
  Headers extends HeaderFields = {}
> extends CommonOptions<Path, Query> {
  /** Request headers that it reads, names in small letters. One that is sent twice is one text, joined by `, `. */
  readonly headers?: Headers
  /** Shape of the body; without one a body is not read. One that may be null (`Schema.NullOr`) may be left out. */
  readonly input?: Schema.Codec<Input, unknown>
  /** Refuses unknown fields of the body with 422 `unknown_key`. Default: `X-Ignored-Fields` names them. Records such as `metadata` stay free. */
  readonly strict?: boolean | undefined
  /**
   * It changes nothing twice under one `Idempotency-Key`, because it finds what a run before did (`actor.executionId` of
   * its call is the same): it runs again after its process died. Without it such a request is 409, since it may have been carried out.
   */
  readonly repeatable?: boolean
  /** Shape of `data`, or of each entry of a list. Without one it is what `JSON.stringify` makes of the answer. */
  readonly success?: Schema.Codec<Success, unknown>
  /** The table whose rows a list shows, for its indexes and counters; `listOf` says it. */
  readonly lists?: Listing
}

/** What a route of bytes is, beside its method and path. */
export interface RawOptions<Path extends string, Query extends QueryFields> extends CommonOptions<Path, Query> {
  /** Content type of bodies in the document. Default: any. */
  readonly accepts?: string
  /** Content type of answers that name none. Default: any in the document, and what fits the body. */
  readonly produces?: string
  /** Shape of `data` of its answers in JSON, where it answers these as well. */
  readonly success?: Schema.Codec<unknown, unknown>
  /** Whether an `Idempotency-Key` counts: the answer, which must be text, is stored then. Default false. */
  readonly idempotent?: boolean
}

const readJson = Schema.decodeSync(Schema.fromJsonString(Schema.Unknown))

const takesBody = (method: Method): method is "POST" | "PUT" | "PATCH" => ["POST", "PUT", "PATCH"].includes(method)

/**
 * Who gets in, by what a route says of itself; undefined when it says nothing. A visitor holds what the role `customer`
 * does, and still counts as not signed in (contract, plugins §0).
 */
export const ruleOf = ({ admits, auth, permission, public: isPublic }: Guard): AccessRule | undefined => {
  if (permission !== undefined) {
    return judgedBy((actor) => !isAnonymous(actor) && holds(actor, permission), permission)
  }
  if (admits !== undefined) return judgedBy(admits.rule, admits.missing)
  if (auth === true) return judgedBy((actor) => !isAnonymous(actor), "*:*")
  return isPublic === undefined ? undefined : open
}

/** The parameters of a path, each a UUID unless the route says otherwise. */
const paramsOf = (
  path: string,
  given: Readonly<Record<string, Schema.Codec<string, string> | undefined>>
): Schema.Codec<object, unknown> =>
  Schema.Struct(
    Object.fromEntries([...path.matchAll(/:(\w+)/g)].map(([, name = ""]) => [name, given[name] ?? Uuid]))
  )

/** A route as the document, the checks of a start and Effect know it; what is in it is any JSON by its types. */
export interface Described extends Guard {
  readonly tag: string
  readonly method: Method
  readonly path: `/${string}`
  readonly isList: boolean
  readonly lists?: Listing | undefined
  readonly summary?: string | undefined
  readonly description?: string | undefined
  readonly input?: AnySchema | undefined
  readonly strict?: boolean | undefined
  readonly repeatable?: boolean | undefined
  readonly query: QueryFields
  /** Absent: it reads none. */
  readonly headers?: HeaderFields | undefined
  readonly params: Readonly<Record<string, Schema.Codec<string, string> | undefined>>
  /** Absent: any JSON. */
  readonly success?: AnySchema | undefined
  readonly errors?: ReadonlyArray<DocumentedError> | undefined
  readonly rate?: Rate | undefined
  /** Its path is not one under `/api`. */
  readonly outsideApi?: boolean | undefined
  /** The shape of its refusals; absent: the envelope. */
  readonly failed?: RefusalShape | undefined
  /** Of a route of bytes. */
  readonly raw?: Pick<RawOptions<string, QueryFields>, "accepts" | "idempotent" | "produces"> | undefined
}

/** `GET /api/marketplace/vendors`: what a route is called. */
export const nameOf = ({ method, path }: Described): string => `${method} ${path}`

/** What a handler gives, as JSON has it: times become texts, what is undefined is left out. */
const anyJson: AnySchema = Schema.Unknown.pipe(
  Schema.encodeTo(Schema.Unknown, {
    decode: SchemaGetter.passthrough(),
    encode: SchemaGetter.transform((value) => readJson(JSON.stringify(value ?? null)))
  })
)

const bytesOf = (contentType = "*/*") => HttpApiSchema.asUint8Array({ contentType })(Schema.Uint8Array)

/** Every POST of a plugin answers 201, other methods 200 (contract, plugins §0). */
const answerOf = ({ isList, method, raw, success }: Described): AnySchema | ReadonlyArray<AnySchema> =>
  raw === undefined
    ? jsonAnswer(isList, method, success)
    : success === undefined
    ? bytesOf(raw.produces)
    : [jsonAnswer(isList, method, success), bytesOf(raw.produces)]

const jsonAnswer = (isList: boolean, method: Described["method"], success: AnySchema = anyJson): AnySchema => {
  const envelope: AnySchema = isList ? Page(success) : Data(success)
  return method === "POST" ? HttpApiSchema.status(201)(envelope) : envelope
}

const queryOf = ({ isList, query }: Described): Schema.Codec<object, unknown> => {
  const fields: Readonly<Record<string, AnySchema>> = { ...(isList ? pageQuery : {}), ...query }
  return Schema.Struct(fields)
}

/** A group without headers decodes none. */
const headersOf = ({ headers }: Described): Schema.Codec<object, unknown> | undefined =>
  headers && Schema.Struct(headers)

const partsOf = (route: Described) => ({
  params: paramsOf(route.path, route.params),
  headers: headersOf(route),
  query: queryOf(route),
  success: answerOf(route),
  error: (route.errors ?? []).map(errorSchema)
})

const annotated = <Endpoint extends { readonly annotateMerge: (annotations: Context.Context<never>) => Endpoint }>(
  endpoint: Endpoint,
  route: Described
): Endpoint => {
  const rule = ruleOf(route)
  const described = endpoint.annotateMerge(OpenApi.annotations({
    ...(route.summary === undefined ? {} : { summary: route.summary }),
    ...(route.description === undefined ? {} : { description: route.description })
  })).annotateMerge(Context.make(NamedByAddress, { isList: route.isList }))
  const strict = route.strict === true ? described.annotateMerge(Context.make(StrictBody, true)) : described
  const repeated = route.repeatable === true ? strict.annotateMerge(Context.make(IdempotentChange, true)) : strict
  const rated = route.rate === undefined
    ? repeated
    : repeated.annotateMerge(Context.make(RouteRate, route.rate === "strict" ? `strict:${nameOf(route)}` : route.rate))
  const once = route.raw === undefined || route.raw.idempotent === true
    ? rated
    : rated.annotateMerge(Context.make(NeverRepeated, true))
  const shaped = route.failed === undefined ? once : once.annotateMerge(Context.make(OwnRefusals, true))
  return rule === undefined ? shaped : shaped.annotateMerge(Context.make(Access, rule))
}

/** The body of a route, undefined without one. One that may be null may be left out, too. */
const payloadOf = ({ input, method, raw }: Described) => {
  if (!takesBody(method)) return undefined
  if (raw !== undefined) return bytesOf(raw.accepts)
  return input !== undefined && Option.isSome(Schema.decodeUnknownOption(input)(null)) ? OptionalBody(input) : input
}

/**
 * The endpoint of a route in a separate group. Prefix and middleware sit on the group that the handler is built from, so
 * a route cannot be served without them.
 */
export const groupOf = (route: Described) => {
  const { method, path } = route
  const payload = payloadOf(route)
  const endpoint = payload !== undefined && takesBody(method)
    ? HttpApiEndpoint.make(method)("run", path, { ...partsOf(route), payload })
    : HttpApiEndpoint.make(method)("run", path, partsOf(route))
  return HttpApiGroup.make(nameOf(route)).add(annotated(endpoint, route))
    .annotateMerge(OpenApi.annotations({ title: route.tag }))
    .annotateMerge(parseOptions)
    .middleware(Errors).middleware(Idempotency).middleware(AccessControl)
}

/** The group with the file of its recorded examples. */
export const recordedIn = (file: URL | undefined, group: ReturnType<typeof groupOf>): typeof group =>
  file === undefined ? group : group.annotate(ExamplesFile, file)
