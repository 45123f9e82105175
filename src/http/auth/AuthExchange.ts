import { Effect, Option, Schema } from "effect"
import { HttpServerRequest, HttpServerResponse } from "effect/http"
import { withoutMapping } from "../server/ClientAddress.ts"
import { TrustedOrigins } from "../server/Cors.ts"
import { isCrossSite } from "../server/CrossSite.ts"
import { envelope } from "../server/Failure.ts"
import { AuthGateway } from "./AuthGateway.ts"

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
  kept.set(clientAddressHeader, Option.getOrElse(Option.map(remoteAddress, withoutMapping), () => ""))
  // Programs that use fetch send this header alone, browsers never do: better-auth would take them for browsers.
  if (headers["sec-fetch-site"] === undefined) kept.delete("sec-fetch-mode")
  return kept
}

/** The address as the client wrote it; a host that is none stands for the service itself. */
const urlOf = ({ headers, url }: HttpServerRequest.HttpServerRequest): string => {
  const path = url.startsWith("/") ? url : `/${url}`
  const asked = `http://${headers["host"] ?? "localhost"}${path}`
  return URL.canParse(asked) ? asked : `http://localhost${path}`
}

const hasBody = (method: string): boolean => method !== "GET" && method !== "HEAD"

/** The body is read here, under the limit of the edge: what is too large never reaches better-auth. */
const toWeb = Effect.fnUntraced(function*(request: HttpServerRequest.HttpServerRequest) {
  const body = hasBody(request.method) ? yield* Effect.catch(request.text, Effect.die) : ""
  return new Request(urlOf(request), {
    method: request.method,
    headers: headersFor(request),
    ...body === "" ? {} : { body }
  })
})

const Problem = Schema.fromJsonString(
  Schema.StructWithRest(
    Schema.Struct({ code: Schema.optional(Schema.String), message: Schema.optional(Schema.String) }),
    [Schema.Record(Schema.String, Schema.Unknown)]
  )
)
const decodeProblem = Schema.decodeUnknownOption(Problem)

/** What a refusal is called that names no code of its own. */
const codes: Readonly<Record<number, string>> = {
  400: "BAD_REQUEST",
  401: "UNAUTHORIZED",
  403: "FORBIDDEN",
  404: "NOT_FOUND",
  405: "METHOD_NOT_ALLOWED",
  409: "CONFLICT",
  415: "UNSUPPORTED_MEDIA_TYPE",
  422: "VALIDATION_FAILED",
  429: "TOO_MANY_REQUESTS"
}

/** The error in the envelope of the service, with the fields of better-auth beside it (contract, platform §1.1). */
const refusal = (status: number, text: string): HttpServerResponse.HttpServerResponse => {
  const problem = Option.getOrUndefined(decodeProblem(text))
  const known = codes[status]
  // What went wrong inside is nobody's business outside.
  if (known === undefined || problem === undefined) return envelope(status)
  const code = problem.code ?? known
  const message = problem.message ?? code
  return HttpServerResponse.jsonUnsafe({ ...problem, code, message, error: { code, message } }, { status })
}

/** A route that better-auth has and this service refuses. */
export const forbidden = (message: string) =>
  Effect.sync(() => refusal(403, JSON.stringify({ code: "FORBIDDEN", message })))

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
    ? refusal(response.status, text)
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

/** better-auth's own words for it, since it says the same where a cookie came along. */
const foreignOrigin = (origin: string | undefined) =>
  Effect.sync(() =>
    refusal(
      403,
      JSON.stringify(
        origin === "null"
          ? { code: "MISSING_OR_NULL_ORIGIN", message: "Missing or null Origin" }
          : { code: "INVALID_ORIGIN", message: "Invalid origin" }
      )
    )
  )

/**
 * Hands the request over and gives the answer back; one effect for all routes of `/api/auth`. better-auth looks at the
 * origin of what comes with a cookie. What comes without is held to the rule of all other routes: the answer to a
 * sign-out takes its visitor's cookie away whether the request carried it or not. The header of a bearer token is none
 * that a page can send without asking first.
 */
export const exchange = Effect.map(
  Effect.all([AuthGateway, TrustedOrigins]),
  ([{ answer }, { isTrusted, production }]) =>
    Effect.gen(function*() {
      const request = yield* HttpServerRequest.HttpServerRequest
      const { authorization, origin } = request.headers
      const guarded = authorization === undefined && !request.url.startsWith(fromProviders)
      if (guarded && isCrossSite(request, "none", isTrusted, production)) return yield* foreignOrigin(origin)
      return yield* Effect.flatMap(Effect.flatMap(toWeb(request), answer), fromWeb)
    })
)
