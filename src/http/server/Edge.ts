import { ByteSize, Context, Effect, Tracer } from "effect"
import { HttpIncomingMessage, HttpRouter, HttpServerRequest, HttpServerResponse } from "effect/http"
import { withClientAddress } from "./ClientAddress.ts"
import { corsHeaders, type OriginTest, preflightHeaders } from "./Cors.ts"
import { answerFailure, envelope } from "./Failure.ts"
import { CurrentRequest, RequestId, requestIdOf } from "./RequestId.ts"
import { requestMetrics, routeTemplate } from "./RequestMetrics.ts"

/** What the edge has to know of the deployment and of the router it stands around. */
export interface EdgeOptions {
  readonly production: boolean
  readonly allowedOrigin: OriginTest
  /** Address of the proxy whose `X-Forwarded-For` is believed; undefined for nobody's. */
  readonly trustedProxy: string | undefined
  /** Methods that a path answers to; empty for an unknown path. */
  readonly methodsOf: (path: string) => ReadonlyArray<string>
}

/** Limit of a request's body on every route (spec §8). */
const maxBodyBytes = 1_048_576

const securityHeaders = {
  "x-content-type-options": "nosniff",
  "x-frame-options": "DENY",
  "referrer-policy": "strict-origin-when-cross-origin",
  "permissions-policy": "camera=(), microphone=(), geolocation=()"
} as const

/** A page of ours runs what it brings along and talks to this host alone. */
const pagePolicy = {
  "content-security-policy":
    "default-src 'self' 'unsafe-inline' data: blob:; font-src 'self' data:; connect-src 'self'; frame-ancestors 'none'"
} as const

const isPage = (response: HttpServerResponse.HttpServerResponse): boolean =>
  response.body._tag !== "Empty" && response.body.contentType?.startsWith("text/html") === true

const strictTransport = { "strict-transport-security": "max-age=31536000; includeSubDomains" } as const

/** The span of the request, where requests are traced, is told the route's template: the router finds it later. */
const nameSpan = (context: Context.Context<never>, path: string): void => {
  const span = Context.getOrUndefined(context, Tracer.ParentSpan)
  if (span?._tag === "Span") span.attribute("http.route", routeTemplate(path))
}

const pathOf = (url: string): string => {
  const end = url.indexOf("?")
  return end === -1 ? url : url.slice(0, end)
}

/** Errors that named their own status are left alone; what carries no JSON body gets the envelope. */
const hasJsonBody = (response: HttpServerResponse.HttpServerResponse): boolean =>
  response.body._tag !== "Empty" && response.body.contentType?.includes("json") === true

/** Clients wait before they repeat what could not be taken on now (ARCHITECTURE invariants 4 and 6). */
const retryAfter = (response: HttpServerResponse.HttpServerResponse): Record<string, string> =>
  response.status === 503 && response.headers["retry-after"] === undefined ? { "retry-after": "1" } : {}

/**
 * What holds for every answer, in one place around the router: request id, security and CORS headers, the body limit,
 * 405 with `Allow`, and the error envelope for everything that no handler answered (ARCHITECTURE §6).
 */
export const edge = <E, R>(
  app: Effect.Effect<HttpServerResponse.HttpServerResponse, E, R>,
  options: EdgeOptions
) => {
  const fixedHeaders = options.production ? { ...securityHeaders, ...strictTransport } : securityHeaders
  const limits = Context.make(HttpIncomingMessage.MaxBodySize, ByteSize.bytes(maxBodyBytes))
  const count = requestMetrics()

  const answer = (request: HttpServerRequest.HttpServerRequest) => {
    if (request.method === "OPTIONS" && request.headers["access-control-request-method"] !== undefined) {
      return Effect.succeed(HttpServerResponse.empty({ status: 204, headers: preflightHeaders }))
    }
    // Declared sizes are refused before a byte is read; undeclared ones while they stream.
    if (Number(request.headers["content-length"] ?? 0) > maxBodyBytes) {
      return Effect.succeed(envelope(413, { connection: "close" }))
    }
    return Effect.matchCauseEffect(app, { onSuccess: Effect.succeed, onFailure: answerFailure })
  }

  const complete = (request: HttpServerRequest.HttpServerRequest, response: HttpServerResponse.HttpServerResponse) => {
    if (response.status < 400) return response
    const methods = response.status === 404 ? options.methodsOf(pathOf(request.url)) : []
    if (methods.length > 0 && !methods.includes(request.method)) return envelope(405, { allow: methods.join(", ") })
    return hasJsonBody(response) ? response : envelope(response.status)
  }

  /** The router leaves the route it found in the fiber's context, which is the enclosing context again further out. */
  const counted = (request: HttpServerRequest.HttpServerRequest, began: number) =>
    Effect.flatMap(answer(request), (answered) =>
      Effect.withFiberSucceed((fiber) => {
        const response = complete(request, answered)
        const route = Context.getOrUndefined(fiber.context, HttpRouter.RouteContext)?.route
        count(route, response.status, (performance.now() - began) / 1_000)
        if (route !== undefined) nameSpan(fiber.context, route.path)
        return response
      }))

  return Effect.gen(function*() {
    const began = performance.now()
    const request = yield* HttpServerRequest.HttpServerRequest
    const requestId = requestIdOf(request.headers["x-request-id"])
    const own = withClientAddress(request, options.trustedProxy)
    const perRequest = Context.add(Context.add(limits, RequestId, requestId), CurrentRequest, {})
    const response = yield* Effect.provideContext(
      counted(own, began),
      own === request ? perRequest : Context.add(perRequest, HttpServerRequest.HttpServerRequest, own)
    )
    return HttpServerResponse.setHeaders(response, {
      ...fixedHeaders,
      ...corsHeaders(request.headers["origin"], options.allowedOrigin),
      ...retryAfter(response),
      ...(isPage(response) ? pagePolicy : {}),
      "x-request-id": requestId
    })
  })
}
