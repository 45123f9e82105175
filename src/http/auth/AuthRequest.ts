import { Effect, Option, Schema } from "effect"
import { HttpServerRequest, HttpServerResponse } from "effect/http"
import type { Credential } from "../access/Actors.ts"
import { withoutMapping } from "../server/ClientAddress.ts"
import { TrustedOrigins } from "../server/Cors.ts"
import { isCrossSite } from "../server/CrossSite.ts"
import { envelope } from "../server/Failure.ts"
import { RateLimiting } from "../server/RateLimiting.ts"
import { CurrentRequest } from "../server/RequestId.ts"
import { type DeclaredBody, declaredBody } from "./AuthBody.ts"
import { AuthGateway, MailLimit } from "./AuthGateway.ts"
import { unusableAddress } from "./CallbackAddress.ts"
import { nonceHeader, noncesIn, withoutNonce } from "./SignUpNonce.ts"

/** The header that tells better-auth the client's address; what a client writes into it himself is dropped. */
export const clientAddressHeader = "x-stoa-client-ip"

/** Headers of the way here, which nobody behind this point may believe. */
const ofTheWay =
  /^(connection|content-length|transfer-encoding|keep-alive|upgrade|expect|x-forwarded-.*|x-real-ip|forwarded)$/

const headersFor = ({ headers, remoteAddress }: HttpServerRequest.HttpServerRequest): Headers => {
  const kept = new Headers()
  for (const [name, value] of Object.entries(headers)) {
    if (value !== undefined && !ofTheWay.test(name)) kept.set(name, value)
  }
  // Of the cookies all but the one that authenticates nobody, which would make a program look like a browser.
  const [cookies, nonces] = [withoutNonce(headers["cookie"]), noncesIn(headers["cookie"])]
  kept.delete("cookie")
  if (cookies !== undefined) kept.set("cookie", cookies)
  kept.delete(nonceHeader)
  if (nonces !== undefined) kept.set(nonceHeader, nonces)
  kept.set(clientAddressHeader, Option.getOrElse(Option.map(remoteAddress, withoutMapping), () => ""))
  // Programs that use fetch send this header alone, browsers never do: better-auth would take them for browsers.
  if (headers["sec-fetch-site"] === undefined) kept.delete("sec-fetch-mode")
  return kept
}

/** The address as the client wrote it; a host that is none stands for the service itself. */
const urlOf = ({ headers, url }: HttpServerRequest.HttpServerRequest): URL => {
  const path = url.startsWith("/") ? url : `/${url}`
  const asked = `http://${headers["host"] ?? "localhost"}${path}`
  return new URL(URL.canParse(asked) ? asked : `http://localhost${path}`)
}

/** Whether the address says to better-auth what it said to our router, which found the route by its unparsed form. */
const isPlain = ({ pathname }: URL, asked: string): boolean => asked.split("?", 1)[0] === pathname

/** The request as better-auth gets it: of its body what the endpoint declares, whatever form it came in. */
export const toWeb = ({ body, request, url }: Guarded): Request => {
  const headers = headersFor(request)
  headers.delete("content-type")
  if (Option.isSome(body)) headers.set("content-type", "application/json")
  const text = Option.map(body, (value) => JSON.stringify(value))
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

/** What a refusal is called that names no code or message of its own. */
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

/** The error in the envelope of the service, with the fields of better-auth beside it (contract, platform §1.1). */
export const refusal = (
  status: number,
  problem: { readonly code?: string | undefined; readonly message?: string | undefined } = {}
): HttpServerResponse.HttpServerResponse => {
  const own = unnamed[status]
  // What went wrong inside is nobody's business outside.
  if (own === undefined) return envelope(status)
  const code = problem.code ?? own[0]
  const message = problem.message ?? problem.code ?? own[1]
  return HttpServerResponse.jsonUnsafe({ ...problem, code, message, error: { code, message } }, { status })
}

/** A route that better-auth has and this service refuses. */
export const forbidden = (message: string) => Effect.sync(() => refusal(403, { code: "FORBIDDEN", message }))

const Signed = Schema.fromJsonString(
  Schema.StructWithRest(Schema.Struct({ token: Schema.String }), [Schema.Record(Schema.String, Schema.Unknown)])
)
const decodeSigned = Schema.decodeUnknownOption(Signed)

/**
 * The token of an answer is that of the session it begins. After the first code of a second factor better-auth names the
 * session before, which it has just ended.
 */
const withOwnToken = (text: string, signed: string | undefined): string => {
  const token = signed?.split(".", 1)[0]
  const body = token === undefined ? undefined : Option.getOrUndefined(decodeSigned(text))
  return body === undefined || body.token === token ? text : JSON.stringify({ ...body, token })
}

/** The answer with its headers, cookies among them; errors in the service's own form. */
const fromWeb = Effect.fnUntraced(function*(response: Response) {
  const text = yield* Effect.promise(() => response.text())
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

/** Where a provider of social sign-in sends its form: from its own origin, and guarded by the state it was given. */
const fromProviders = "/api/auth/callback/"

/** Where passwords are tried: counted by the address that is tried, too. */
const signIn = "/api/auth/sign-in/email"

const emailOf = (body: Option.Option<unknown>): string | undefined =>
  Option.getOrUndefined(Option.flatMap(body, decodeTried))?.email

/** A cookie counts by being there; the header of a bearer token is none that a page can send without asking first. */
const shown = ({ headers }: HttpServerRequest.HttpServerRequest): Credential =>
  withoutNonce(headers["cookie"]) !== undefined ? "cookie" : headers["authorization"] === undefined ? "none" : "bearer"

/** better-auth's own words for it. */
const foreignOrigin = ({ headers: { origin, referer } }: HttpServerRequest.HttpServerRequest) =>
  origin === "null" || (origin ?? referer) === undefined
    ? refusal(403, { code: "MISSING_OR_NULL_ORIGIN", message: "Missing or null Origin" })
    : refusal(403, { code: "INVALID_ORIGIN", message: "Invalid origin" })

/** A request to a route of `/api/auth` that comes from where it may and says what its route declares. */
export interface Guarded {
  readonly request: HttpServerRequest.HttpServerRequest
  readonly url: URL
  readonly body: Option.Option<unknown>
}

/** Routes that better-auth has lists for, whose other parameters it puts into its queries as they are. */
const listing = /^\/api\/auth\/(?:organization|api-key)\//

/** Leaves of a query what the endpoint declares. */
const keepDeclared = (sent: URLSearchParams, { query }: DeclaredBody): void => {
  const declared = query?.ast._tag === "Objects" ? query.ast.propertySignatures.map(({ name }) => name) : []
  for (const name of new Set(sent.keys())) if (!declared.includes(name)) sent.delete(name)
}

/** The endpoint that a handler answers for. */
export interface Asked {
  readonly endpoint: DeclaredBody
}

/**
 * Looks at a request before anybody answers it. What comes without a cookie is held to the rule of origins too: the answer
 * to a sign-out takes its visitor's cookie away whether the request carried it or not.
 */
export const guard = Effect.map(TrustedOrigins, ({ isTrusted, production, publicUrl }) => {
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
      const guarded = !url.pathname.startsWith(fromProviders)
      if (guarded && isCrossSite(request, shown(request), isTrusted, production)) return foreignOrigin(request)
      const body = yield* bodyOf(endpoint)(request)
      const stray = unusableAddress(url.searchParams, Option.getOrUndefined(body), mayLeadTo)
      if (stray !== undefined) return refusal(403, stray)
      if (listing.test(url.pathname)) keepDeclared(url.searchParams, endpoint)
      return yield* answer({ request, url, body })
    }).pipe(
      Effect.catchTag(
        "BodyRefused",
        ({ code, message, status }) => Effect.succeed(refusal(status, { code, message }))
      )
    )
})

/** Hands the request over to better-auth, which looks at cookies and origins once more, and gives the answer back. */
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
