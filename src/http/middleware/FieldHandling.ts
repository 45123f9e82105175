import { Context, Effect, Result, Schema } from "effect"
import { HttpEffect, HttpServerRequest, HttpServerResponse } from "effect/http"
import type { HttpApiEndpoint } from "effect/http-api"
import { ValidationFailed } from "../../domain/platform/errors/ApiErrors.ts"
import { everyIssue, issuesOf, unknownKey } from "../../domain/platform/text/Issues.ts"
import { readJson } from "../../domain/platform/text/Storable.ts"
import { checkedBody, jsonPayloadOf } from "./BodyCheck.ts"
import { everyField, FieldWalk, lookFor, queryLookFor, type UnknownField } from "./UnknownFields.ts"

/**
 * Annotation of an endpoint whose body sets a price, a limit, a condition, a right or a time: an unknown field, dropped,
 * would change what it grants (contract-commerce §6). Records such as `metadata` stay free.
 */
export class StrictBody extends Context.Service<StrictBody, true>()("stoa/http/middleware/StrictBody") {}

/** Annotation of an endpoint whose body is another party's, signed as it is. */
export class ForeignBody extends Context.Service<ForeignBody, true>()("stoa/http/middleware/ForeignBody") {}

/** Annotation of an endpoint that reads parameters whose names begin with one of these texts. */
export class ParameterPrefixes
  extends Context.Service<ParameterPrefixes, ReadonlyArray<string>>()("stoa/http/middleware/ParameterPrefixes")
{}

type Request = HttpServerRequest.HttpServerRequest
type Response = HttpServerResponse.HttpServerResponse

/** `handling=strict` of `Prefer` (RFC 7240); the first `handling` counts. */
export const prefersStrict = ({ headers: { prefer } }: Pick<Request, "headers">): boolean => {
  if (prefer === undefined) return false
  const [handling] = prefer.split(",").flatMap((one) =>
    /^\s*handling\s*=\s*"?([^\s";]*)"?\s*(?:;|$)/i.exec(one)?.[1] ?? []
  )
  return handling?.toLowerCase() === "strict"
}

const longestName = 80
const longestHeader = 1_000

const encoded = (part: string): string => encodeURIComponent(part.slice(0, longestName).toWellFormed())

/** The value of `X-Ignored-Fields`; its last entry counts those that are left out. */
export const ignoredFields = (fields: ReadonlyArray<Pick<UnknownField, "path">>, count: number): string => {
  const names: Array<string> = []
  let length = 0
  for (const { path } of fields) {
    const name = path.map(encoded).join(".")
    length += name.length + 2
    if (length > longestHeader) break
    names.push(name)
  }
  return [...names, ...(count > names.length ? [`+${count - names.length}`] : [])].join(", ")
}

const joined = (before: string | undefined, after: string): string =>
  before === undefined ? after : `${before}, ${after}`

/** Caches that share answers keep those to strict requests apart. */
const ignoring = (names: string) => (response: Response): Response =>
  HttpServerResponse.setHeaders(response, {
    "x-ignored-fields": joined(response.headers["x-ignored-fields"], names),
    vary: joined(response.headers["vary"], "Prefer")
  })

const applying = (response: Response): Response =>
  HttpServerResponse.setHeaders(response, {
    "preference-applied": "handling=strict",
    vary: joined(response.headers["vary"], "Prefer")
  })

const later = (change: (response: Response) => Response) =>
  HttpEffect.appendPreResponseHandler((_request, response) => Effect.succeed(change(response)))

/** Changes the answer of a handler, so that it is stored for an `Idempotency-Key`, and its refusals. */
const answering = <E, R>(handler: Effect.Effect<Response, E, R>, change: (response: Response) => Response) =>
  Effect.tapError(Effect.map(handler, change), () => later(change))

const refusing = (fields: ReadonlyArray<UnknownField>) =>
  fields.map(({ kind, known, path }) => unknownKey(path, known, kind))

/**
 * Names what a handler finds that it does not know, such as a name in a comma list: 422 for a request that asks for
 * strict handling, else in the header.
 */
export const ignore = Effect.fnUntraced(function*(fields: ReadonlyArray<UnknownField>) {
  if (fields.length === 0) return
  if (prefersStrict(yield* HttpServerRequest.HttpServerRequest)) {
    yield* later(applying)
    return yield* ValidationFailed.issues(refusing(fields))
  }
  yield* later(ignoring(ignoredFields(fields, fields.length)))
})

const hasBody = ({ headers, method }: Request): boolean =>
  method !== "GET" && method !== "HEAD" && headers["content-length"] !== "0" &&
  (headers["content-length"] ?? headers["transfer-encoding"]) !== undefined &&
  /json/i.test(headers["content-type"] ?? "json")

/** A body that the endpoint does not read has unknown fields only; it is not looked at any deeper. */
const unreadBody = (request: Request): Effect.Effect<unknown> =>
  hasBody(request)
    ? Effect.map(Effect.catch(request.text, Effect.die), (text) => Result.getOrUndefined(readJson(text)))
    : Effect.undefined

type ReadBody = (request: Request) => Effect.Effect<unknown, ValidationFailed>

const bodyOf = (endpoint: HttpApiEndpoint.Top, read: ReadBody | undefined) => {
  const schema = jsonPayloadOf(endpoint)
  if (schema !== undefined) return { schema, read: read ?? checkedBody(schema), look: lookFor(schema) }
  const isForeign = endpoint.payload.size > 0 || Context.getOrUndefined(endpoint.annotations, ForeignBody) === true
  return isForeign || endpoint.method === "GET"
    ? undefined
    : { schema: Schema.Unknown, read: unreadBody, look: everyField }
}

const searchOf = (url: string): string => {
  const at = url.indexOf("?")
  return at === -1 ? "" : url.slice(at + 1)
}

/** The other issues of a refused body. */
const bodyIssues = (schema: Schema.Constraint, body: unknown) => {
  const read = Schema.decodeUnknownResult(schema as Schema.Codec<unknown, unknown>, everyIssue)(body)
  return Result.isFailure(read) ? issuesOf(read.failure) : []
}

/**
 * What is done with unknown fields of a request and unknown parameters of its query, decided from the endpoint's own
 * schemas: 422 where the body is strict or the request asks for strict handling (RFC 7240), else the answer names them.
 * `read` reads the body where the endpoint has more forms of it than JSON.
 */
export const fieldHandling = (endpoint: HttpApiEndpoint.Top, read?: ReadBody) => {
  const body = bodyOf(endpoint, read)
  const prefixes = Context.getOrUndefined(endpoint.annotations, ParameterPrefixes) ?? []
  const queryLook = queryLookFor(endpoint.query, prefixes)
  const hasStrictBody = endpoint.payload.size > 0 &&
    Context.getOrUndefined(endpoint.annotations, StrictBody) === true

  const handled = <E, R>(
    handler: Effect.Effect<Response, E, R>,
    request: Request,
    sent: unknown
  ): Effect.Effect<Response, E | ValidationFailed, R | HttpServerRequest.HttpServerRequest> => {
    const walk = new FieldWalk()
    if (sent !== undefined) body?.look?.(sent, walk)
    const inBody = walk.count
    const search = searchOf(request.url)
    if (search !== "") queryLook(new URLSearchParams(search), walk)
    const strict = prefersStrict(request)
    const refused = strict ? walk.found : hasStrictBody ? walk.found.slice(0, inBody) : []
    const answer = (response: Response): Response => {
      const named = walk.count === 0 || strict ? response : ignoring(ignoredFields(walk.found, walk.count))(response)
      return strict ? applying(named) : named
    }
    if (refused.length === 0) return walk.count === 0 && !strict ? handler : answering(handler, answer)
    const others = body === undefined || sent === undefined ? [] : bodyIssues(body.schema, sent)
    const refusal = Effect.fail(ValidationFailed.issues([...refusing(refused), ...others]))
    return strict ? Effect.andThen(later(applying), refusal) : refusal
  }

  return <E, R>(
    handler: Effect.Effect<Response, E, R>
  ): Effect.Effect<Response, E | ValidationFailed, R | HttpServerRequest.HttpServerRequest> =>
    Effect.flatMap(HttpServerRequest.HttpServerRequest, (request) =>
      body === undefined
        ? handled(handler, request, undefined)
        : Effect.flatMap(body.read(request), (sent) => handled(handler, request, sent)))
}
