import { Context, Effect, Option, Schema } from "effect"
import { HttpServerRequest, HttpServerResponse } from "effect/http"
import type { CurrentActor } from "../../domain/platform/access/Actor.ts"
import type { Credential } from "../access/Actors.ts"
import { envelope } from "../server/Failure.ts"
import { isCrossSite, type OriginTest, TrustedOrigins, withoutMapping } from "../server/Origins.ts"
import { RateLimiting } from "../server/RateLimiting.ts"
import { CurrentRequest } from "../server/RequestId.ts"
import { nonceHeader, noncesIn, withoutNonce } from "./AddressVerification.ts"
import { type DeclaredBody, declaredBody } from "./AuthBody.ts"
import { bodyWithAlias, jsonWithoutAlias } from "./EmailAlias.ts"

/** False when the recipient got too many mails of a kind. The response stays the same. */
export const MailLimit = Context.Reference<(kind: string, to: string) => Effect.Effect<boolean>>(
  "stoa/http/auth/MailLimit",
  { defaultValue: () => () => Effect.succeed(true) }
)

/** Serves `/api/auth` (contract, platform §3); see `layers/auth`. */
export class AuthGateway extends Context.Service<AuthGateway, {
  readonly answer: (request: Request) => Effect.Effect<Response, never, CurrentActor>
}>()("stoa/http/auth/AuthGateway") {}

const refusals = {
  callbackURL: "INVALID_CALLBACK_URL",
  redirectTo: "INVALID_REDIRECT_URL",
  errorCallbackURL: "INVALID_ERROR_CALLBACK_URL",
  newUserCallbackURL: "INVALID_NEW_USER_CALLBACK_URL"
} as const

const ambiguous = /[\\\s\p{Cc}]/u

const own = "http://stoa.invalid"

/** Such a path names a host, maybe only after normalization. */
const namesAHost = ({ pathname }: URL): boolean => /\/\/|%2f|%5c/i.test(pathname)

export const isTrustedAddress = (address: string, isTrusted: OriginTest): boolean => {
  if (ambiguous.test(address)) return false
  const isPath = address.startsWith("/")
  if (isPath ? address.startsWith("//") : !/^https?:\/\//i.test(address)) return false
  if (!URL.canParse(address, own)) return false
  const url = new URL(address, own)
  if (url.username !== "" || url.password !== "") return false
  return isPath ? url.origin === own && !namesAHost(url) : isTrusted(url.origin)
}

export const unusableAddress = (query: URLSearchParams, body: unknown, isTrusted: OriginTest) => {
  for (const [name, code] of Object.entries(refusals)) {
    const sent: unknown = typeof body === "object" && body !== null ? Reflect.get(body, name) : undefined
    const addresses = [...query.getAll(name), ...typeof sent === "string" ? [sent] : []]
    const isUntrusted = addresses.some((address) => address !== "" && !isTrustedAddress(address, isTrusted))
    if (isUntrusted) return { code, message: `${name} must be a path, or an address of a trusted origin.` }
  }
  return undefined
}

/** Dropped when a client sends it. */
export const clientAddressHeader = "x-stoa-client-ip"

/** Headers that better-auth must not trust. */
const ofConnection =
  /^(connection|content-length|transfer-encoding|keep-alive|upgrade|expect|x-forwarded-.*|x-real-ip|forwarded)$/

const headersFor = ({ headers, remoteAddress }: HttpServerRequest.HttpServerRequest): Headers => {
  const kept = new Headers()
  for (const [name, value] of Object.entries(headers)) {
    if (value !== undefined && !ofConnection.test(name)) kept.set(name, value)
  }
  // A nonce authenticates no user, but would make a program look like a browser.
  const [cookies, nonces] = [withoutNonce(headers["cookie"]), noncesIn(headers["cookie"])]
  kept.delete("cookie")
  if (cookies !== undefined) kept.set("cookie", cookies)
  kept.delete(nonceHeader)
  if (nonces !== undefined) kept.set(nonceHeader, nonces)
  kept.set(clientAddressHeader, Option.getOrElse(Option.map(remoteAddress, withoutMapping), () => ""))
  // `fetch` in programs sends this header alone: better-auth would take them for browsers.
  if (headers["sec-fetch-site"] === undefined) kept.delete("sec-fetch-mode")
  return kept
}

const urlOf = ({ headers, url }: HttpServerRequest.HttpServerRequest): URL => {
  const path = url.startsWith("/") ? url : `/${url}`
  const asked = `http://${headers["host"] ?? "localhost"}${path}`
  return new URL(URL.canParse(asked) ? asked : `http://localhost${path}`)
}

/** The router matched the raw path, better-auth reads the parsed one: they must be equal. */
const isPlain = ({ pathname }: URL, asked: string): boolean => asked.split("?", 1)[0] === pathname

export const toWeb = ({ body, request, url }: Guarded): Request => {
  const headers = headersFor(request)
  headers.delete("content-type")
  if (Option.isSome(body)) headers.set("content-type", "application/json")
  const text = Option.map(body, (value) => JSON.stringify(bodyWithAlias(value)))
  return new Request(url, { method: request.method, headers, ...Option.isSome(text) && { body: text.value } })
}

const Problem = Schema.fromJsonString(
  Schema.StructWithRest(
    Schema.Struct({ code: Schema.optional(Schema.String), message: Schema.optional(Schema.String) }),
    [Schema.Record(Schema.String, Schema.Unknown)]
  )
)
const decodeTried = Schema.decodeUnknownOption(Schema.Struct({ email: Schema.String }))
const decodeProblem = Schema.decodeUnknownOption(Problem)

const unnamed: Readonly<Record<number, readonly [code: string, message: string]>> = {
  400: ["BAD_REQUEST", "The request could not be read."],
  401: ["UNAUTHORIZED", "Authentication required."],
  403: ["FORBIDDEN", "This is not allowed."],
  404: ["NOT_FOUND", "Not found."],
  405: ["METHOD_NOT_ALLOWED", "This path does not answer to that method."],
  409: ["CONFLICT", "The request conflicts with what is there."],
  415: ["UNSUPPORTED_MEDIA_TYPE", "The content type is not supported; send application/json."],
  422: ["VALIDATION_FAILED", "The request is not valid."],
  429: ["TOO_MANY_REQUESTS", "Too many requests, please try again later."]
}

/** The envelope with better-auth's fields beside it (contract, platform §1.1). */
export const refusal = (
  status: number,
  problem: { readonly code?: string | undefined; readonly message?: string | undefined } = {}
): HttpServerResponse.HttpServerResponse => {
  const own = unnamed[status]
  if (own === undefined) return envelope(status)
  const code = problem.code ?? own[0]
  const message = problem.message ?? problem.code ?? own[1]
  return HttpServerResponse.jsonUnsafe({ ...problem, code, message, error: { code, message } }, { status })
}

export const forbidden = (message: string) => Effect.sync(() => refusal(403, { code: "FORBIDDEN", message }))

const Signed = Schema.fromJsonString(
  Schema.StructWithRest(Schema.Struct({ token: Schema.String }), [Schema.Record(Schema.String, Schema.Unknown)])
)
const decodeSigned = Schema.decodeUnknownOption(Signed)

/** Returns the new session's token: after the first code of a second factor better-auth shows that of the ended one. */
const withOwnToken = (text: string, signed: string | undefined): string => {
  const token = signed?.split(".", 1)[0]
  const body = token === undefined ? undefined : Option.getOrUndefined(decodeSigned(text))
  return body === undefined || body.token === token ? text : JSON.stringify({ ...body, token })
}

const fromWeb = Effect.fnUntraced(function*(response: Response) {
  const text = jsonWithoutAlias(yield* Effect.promise(() => response.text()))
  const { cookies, headers } = HttpServerResponse.fromWeb(new Response(null, response))
  const { "content-length": _length, "content-type": contentType, ...kept } = headers
  const answer = response.status >= 400
    ? refusal(response.status, Option.getOrUndefined(decodeProblem(text)))
    : text === ""
    ? HttpServerResponse.empty({ status: response.status })
    : HttpServerResponse.text(withOwnToken(text, kept["set-auth-token"]), {
      status: response.status,
      contentType: contentType ?? "application/json"
    })
  return answer.pipe(HttpServerResponse.setHeaders(kept), HttpServerResponse.mergeCookies(cookies))
})

/** Providers post their form from another origin; the state parameter guards it. */
const fromProviders = "/api/auth/callback/"

const signIn = "/api/auth/sign-in/email"

const emailOf = (body: Option.Option<unknown>): string | undefined =>
  Option.getOrUndefined(Option.flatMap(body, decodeTried))?.email

/** Any cookie counts; a bearer token needs a preflight request. */
const shown = ({ headers }: HttpServerRequest.HttpServerRequest): Credential =>
  withoutNonce(headers["cookie"]) !== undefined ? "cookie" : headers["authorization"] === undefined ? "none" : "bearer"

/** Tests a request for a change from an origin that may not make it. */
export const foreignTest = Effect.map(
  TrustedOrigins,
  ({ isTrusted, production }) => (request: HttpServerRequest.HttpServerRequest): boolean =>
    !urlOf(request).pathname.startsWith(fromProviders) && isCrossSite(request, shown(request), isTrusted, production)
)

const foreignOrigin = ({ headers: { origin, referer } }: HttpServerRequest.HttpServerRequest) =>
  origin === "null" || (origin ?? referer) === undefined
    ? refusal(403, { code: "MISSING_OR_NULL_ORIGIN", message: "The Origin header is required." })
    : refusal(403, { code: "INVALID_ORIGIN", message: "The Origin header must name a trusted origin." })

export interface Guarded {
  readonly request: HttpServerRequest.HttpServerRequest
  readonly url: URL
  readonly body: Option.Option<unknown>
}

const listing = /^\/api\/auth\/(?:organization|api-key)\//

const keepDeclared = (sent: URLSearchParams, { query }: DeclaredBody): void => {
  const declared = query?.ast._tag === "Objects" ? query.ast.propertySignatures.map(({ name }) => name) : []
  for (const name of new Set(sent.keys())) if (!declared.includes(name)) sent.delete(name)
}

export interface Asked {
  readonly endpoint: DeclaredBody
}

/** Requests without a cookie need an allowed origin too: a sign-out's response removes the visitor's cookie. */
export const guard = Effect.map(Effect.all([TrustedOrigins, foreignTest]), ([{ isTrusted, publicUrl }, isForeign]) => {
  const mayLeadTo = (origin: string) => origin === publicUrl || isTrusted(origin)
  const bodies = new Map<DeclaredBody, ReturnType<typeof declaredBody>>()
  const bodyOf = (endpoint: DeclaredBody) => {
    const found = bodies.get(endpoint) ?? declaredBody(endpoint)
    bodies.set(endpoint, found)
    return found
  }
  return <R>(
    { endpoint }: Asked,
    answer: (guarded: Guarded) => Effect.Effect<HttpServerResponse.HttpServerResponse, never, R>
  ) =>
    Effect.gen(function*() {
      const request = yield* HttpServerRequest.HttpServerRequest
      const url = urlOf(request)
      if (!isPlain(url, request.url)) return refusal(404)
      if (isForeign(request)) return foreignOrigin(request)
      const body = yield* bodyOf(endpoint)(request)
      const refused = unusableAddress(url.searchParams, Option.getOrUndefined(body), mayLeadTo)
      if (refused !== undefined) return refusal(403, refused)
      if (listing.test(url.pathname)) keepDeclared(url.searchParams, endpoint)
      return yield* answer({ request, url, body })
    }).pipe(
      Effect.catchTag(
        "BodyRefused",
        ({ code, message, status }) => Effect.succeed(refusal(status, { code, message }))
      )
    )
})

export const exchange = Effect.map(
  Effect.all([AuthGateway, RateLimiting, guard]),
  ([{ answer }, limiting, guarded]) => (asked: Asked) =>
    guarded(asked, ({ body, request, url }) =>
      Effect.gen(function*() {
        const email = url.pathname === signIn ? emailOf(body) : undefined
        const admitted = email === undefined || (yield* limiting.signIn((yield* CurrentRequest) ?? {}, email))
        if (!admitted) return refusal(429)
        const answered = answer(toWeb({ body, request, url }))
        return yield* Effect.flatMap(Effect.provideService(answered, MailLimit, limiting.mail), fromWeb)
      }))
)
