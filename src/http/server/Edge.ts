import { ByteSize, Context, Effect, Tracer } from "effect"
import { HttpIncomingMessage, HttpRouter, HttpServerRequest, HttpServerResponse } from "effect/http"
import { withClientAddress } from "./ClientAddress.ts"
import { corsHeaders, type OriginTest, preflightHeaders } from "./Cors.ts"
import { answerFailure, envelope } from "./Failure.ts"
import { type RateLimiting, secondsToWait, standingHeaders } from "./RateLimiting.ts"
import { CurrentRequest, type RequestFacts, RequestId, requestIdOf } from "./RequestId.ts"
import { requestMetrics, routeTemplate } from "./RequestMetrics.ts"

/** What the edge has to know of the deployment and of the router it stands around. */
export interface EdgeOptions {
  readonly production: boolean
  readonly allowedOrigin: OriginTest
  /** Address of the proxy whose `X-Forwarded-For` is believed; undefined for nobody's. */
  readonly trustedProxy: string | undefined
  readonly limiting: RateLimiting["Service"]
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

/** A browser asks whether a page may send what it is about to send. */
const isPreflight = ({ headers, method }: HttpServerRequest.HttpServerRequest): boolean =>
  method === "OPTIONS" && headers["access-control-request-method"] !== undefined

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
  const { limiting } = options

  const answer = (request: HttpServerRequest.HttpServerRequest) => {
    if (isPreflight(request)) {
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

  const refused = envelope(429)

  /** Counted before it is worked on where its caller is an address, and else by the routes or when it is answered. */
  const admitted = (request: HttpServerRequest.HttpServerRequest, facts: RequestFacts) =>
    isPreflight(request)
      ? answer(request)
      : Effect.flatMap(limiting.arrive(request, facts), (so) => so ? answer(request) : Effect.succeed(refused))

  /** The router leaves the route it found in the fiber's context, which is the enclosing context again further out. */
  const counted = (request: HttpServerRequest.HttpServerRequest, facts: RequestFacts, began: number) =>
    Effect.flatMap(admitted(request, facts), (answered) => {
      const own = complete(request, answered)
      return Effect.flatMap(
        limiting.leave(request, facts, own.status),
        (standing) =>
          Effect.withFiberSucceed((fiber) => {
            const response = standing.admitted ? own : refused
            const route = Context.getOrUndefined(fiber.context, HttpRouter.RouteContext)?.route
            count(route, response.status, (performance.now() - began) / 1_000)
            if (route !== undefined) nameSpan(fiber.context, route.path)
            return HttpServerResponse.setHeaders(response, {
              ...fixedHeaders,
              ...standingHeaders(standing),
              ...corsHeaders(request.headers["origin"], options.allowedOrigin),
              ...retryAfter(response),
              ...(standing.admitted ? {} : { "retry-after": secondsToWait(standing) }),
              ...(isPage(response) ? pagePolicy : {})
            })
          })
      )
    })

  return Effect.gen(function*() {
    const began = performance.now()
    const request = yield* HttpServerRequest.HttpServerRequest
    const requestId = requestIdOf(request.headers["x-request-id"])
    const own = withClientAddress(request, options.trustedProxy)
    const facts: RequestFacts = {}
    const perRequest = Context.add(Context.add(limits, RequestId, requestId), CurrentRequest, facts)
    const response = yield* Effect.provideContext(
      counted(own, facts, began),
      own === request ? perRequest : Context.add(perRequest, HttpServerRequest.HttpServerRequest, own)
    )
    return HttpServerResponse.setHeader(response, "x-request-id", requestId)
  })
}
