import { ByteSize, Context, Effect, Metric, Tracer } from "effect"
import { HttpIncomingMessage, HttpRouter, HttpServerRequest, HttpServerResponse } from "effect/http"
import type { Standing } from "../../domain/platform/ratelimits/RateLimits.ts"
import { answerFailure, envelope } from "./Failure.ts"
import {
  cameInPlain,
  corsHeaders,
  type HostTest,
  type OriginTest,
  preflightHeaders,
  type ProxyTest,
  withClientAddress
} from "./Origins.ts"
import { type RateLimiting, secondsToWait, showsCredentials, standingHeaders } from "./RateLimiting.ts"
import { type RefusalShape, reshaped } from "./Refusals.ts"
import { CurrentRequest, type Farewell, type RequestFacts, RequestId, requestIdOf } from "./RequestId.ts"

/** Upper bounds of the buckets of durations, in seconds. */
const boundaries = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10]

/** Requests by method, route and class of status: `2xx`, `4xx`. */
const requests = Metric.counter("stoa_http_requests_total", {
  description: "HTTP requests answered, by route and class of status",
  incremental: true
})
const requestDurations = Metric.histogram("stoa_http_request_duration_seconds", {
  description: "Seconds from the arrival of a request to its answer, by route",
  boundaries
})
const calls = Metric.counter("stoa_rpc_calls_total", {
  description: "Calls at /rpc that ended, by call and outcome",
  incremental: true
})
const callDurations = Metric.histogram("stoa_rpc_call_duration_seconds", {
  description: "Seconds from the arrival of a call to its end, by call; streams apart",
  boundaries
})

/** The series of a metric with these labels; every request passes here, so each is built once. */
const seriesOf = <State>(metric: Metric.Metric<number, State>) => {
  const known = new Map<string, Metric.Metric<number, State>>()
  return (labels: Record<string, string>) => {
    const name = Object.values(labels).join(" ")
    const series = known.get(name) ?? Metric.withAttributes(metric, labels)
    known.set(name, series)
    return (value: number) => series.updateUnsafe(value, Context.empty())
  }
}

const requestCounter = seriesOf(requests)
const requestTimer = seriesOf(requestDurations)
const callCounter = seriesOf(calls)
const callTimer = seriesOf(callDurations)

/** The router's `:id` as the document writes it. */
export const routeTemplate = (path: string): string => path.replace(/:([^/]+)/g, "{$1}")

/** Counts an answered request. What matched no route is one series: clients choose such paths. */
export const countRequest = (
  route: HttpRouter.Route<unknown, unknown> | undefined,
  status: number,
  seconds: number
): void => {
  const labels = route === undefined
    ? { method: "*", route: "unmatched" }
    : { method: route.method, route: routeTemplate(route.path) }
  requestCounter({ ...labels, status: `${Math.floor(status / 100)}xx` })(1)
  requestTimer(labels)(seconds)
}

/** Counts an ended call; without seconds for a stream, which lasts as long as its reader wants. */
export const countCall = (call: string, outcome: string, seconds: number | undefined): void => {
  callCounter({ call, outcome })(1)
  if (seconds !== undefined) callTimer({ call })(seconds)
}

interface Route {
  readonly method: string
  readonly path: string
}

/** The methods of each path, to distinguish a wrong method from an unknown path (405 with `Allow`). */
export const routeTable = (routes: ReadonlyArray<Route>) => {
  const patterns = new Map<string, { readonly pattern: RegExp; readonly methods: Set<string> }>()
  for (const { method, path } of routes) {
    const shape = path.replace(/:[^/]+/g, "[^/]+")
    const known = patterns.get(shape) ?? { pattern: new RegExp(`^${shape}/?$`), methods: new Set<string>() }
    known.methods.add(method)
    patterns.set(shape, known)
  }
  const all = [...patterns.values()]
  return (path: string): ReadonlyArray<string> => {
    const methods = new Set(all.filter(({ pattern }) => pattern.test(path)).flatMap((entry) => [...entry.methods]))
    if (methods.has("GET")) methods.add("HEAD")
    return [...methods].sort()
  }
}

export interface AnswerOptions {
  readonly production: boolean
  readonly allowedOrigin: OriginTest
  /** The proxies whose `X-Forwarded-…` is trusted; undefined: none. */
  readonly isProxy: ProxyTest | undefined
  /** Whether this process is stopping: then no connection may be used again. */
  readonly farewell: Farewell
}

type Request = HttpServerRequest.HttpServerRequest
type Response = HttpServerResponse.HttpServerResponse

const securityHeaders = {
  "x-content-type-options": "nosniff",
  "x-frame-options": "DENY",
  "referrer-policy": "strict-origin-when-cross-origin",
  "permissions-policy": "camera=(), microphone=(), geolocation=()",
  // Whether a page may read an answer depends on where it comes from, so caches keep answers apart.
  vary: "Origin"
} as const

const strictTransport = { "strict-transport-security": "max-age=31536000; includeSubDomains" } as const

/** A page of ours runs what it brings along and talks to this host alone. */
const pagePolicy =
  "default-src 'self' 'unsafe-inline' data: blob:; font-src 'self' data:; connect-src 'self'; frame-ancestors 'none'"

const isPage = ({ body }: Response): boolean =>
  body._tag !== "Empty" && body.contentType?.startsWith("text/html") === true

/** The answer to a request with credentials or a cart secret must not be shared. */
const isPrivate = (request: Request, { headers }: Response): boolean =>
  headers["cache-control"] === undefined &&
  (showsCredentials(request) || request.headers["x-cart-secret"] !== undefined)

/**
 * Gives every answer the headers that all have: request id, security, CORS, rate limits (contract, platform §1.3), and
 * `Retry-After` where the request may be repeated.
 */
export const answerHeaders = ({ allowedOrigin, farewell, isProxy, production }: AnswerOptions) => {
  const overTls = production ? { ...securityHeaders, ...strictTransport } : securityHeaders

  return (request: Request, response: Response, standing: Standing, requestId: string): Response => {
    const headers: Record<string, string> = {
      ...(cameInPlain(request, isProxy) ? securityHeaders : overTls),
      ...standingHeaders(standing),
      ...corsHeaders(request.headers["origin"], allowedOrigin),
      "x-request-id": requestId
    }
    if (!standing.admitted) headers["retry-after"] = secondsToWait(standing)
    if (response.status === 503 && response.headers["retry-after"] === undefined) headers["retry-after"] = "1"
    if (farewell.begun) headers["connection"] = "close"
    // A page that names a policy has a stricter one.
    if (isPage(response)) headers["content-security-policy"] = response.headers["content-security-policy"] ?? pagePolicy
    if (isPrivate(request, response)) headers["cache-control"] = "no-store"
    const { vary } = response.headers
    if (vary !== undefined) headers["vary"] = `${securityHeaders.vary}, ${vary}`
    return HttpServerResponse.setHeaders(response, headers)
  }
}

/** What the edge has to know of the deployment and of its router. */
export interface EdgeOptions extends AnswerOptions {
  readonly limiting: RateLimiting["Service"]
  readonly isOwnHost: HostTest
  /** Methods that a path answers to; empty for an unknown path. */
  readonly methodsOf: (path: string) => ReadonlyArray<string>
  /** Request headers that routes of plugins read, which pages of trusted origins may send. */
  readonly requestHeaders?: ReadonlyArray<string>
  /** The shape of the refusal of a request, maybe before a route was found for it; undefined: the envelope. */
  readonly refusalShapeOf?: (
    request: Request,
    found: HttpRouter.Route<unknown, unknown> | undefined
  ) => RefusalShape | undefined
  /** Body limits in bytes of single routes (`POST /path`), which enforce them while they read. */
  readonly bodyLimits?: ReadonlyMap<string, number>
}

/** Limit of a request's body on every route (spec §8). */
const maxBodyBytes = 1_048_576

/** Adds the route's template to the span of a traced request: the router finds the route later. */
const nameSpan = (context: Context.Context<never>, path: string): void => {
  const span = Context.getOrUndefined(context, Tracer.ParentSpan)
  if (span?._tag === "Span") span.attribute("http.route", routeTemplate(path))
}

const pathOf = (url: string): string => {
  const end = url.indexOf("?")
  return end === -1 ? url : url.slice(0, end)
}

/** Answers with JSON or a page are left alone; others get the envelope. */
const hasOwnBody = (response: HttpServerResponse.HttpServerResponse): boolean =>
  response.body._tag !== "Empty" && /json|html/.test(response.body.contentType ?? "")

/** A browser asks whether a page may send what it is about to send. */
const isPreflight = ({ headers, method }: Request): boolean =>
  method === "OPTIONS" && headers["access-control-request-method"] !== undefined

const isChunked = ({ headers }: Request): boolean => headers["transfer-encoding"] !== undefined

/** The route that the router found, after which the span is named. */
const foundBy = (context: Context.Context<never>) => {
  const route = Context.getOrUndefined(context, HttpRouter.RouteContext)?.route
  if (route !== undefined) nameSpan(context, route.path)
  return route
}

/**
 * What holds for every answer, in one place around the router: request id, security and CORS headers, the limits of
 * requests and bodies, 405 with `Allow`, and the error envelope for everything that no handler answered
 * (ARCHITECTURE §6).
 */
export const edge = <E, R>(
  app: Effect.Effect<HttpServerResponse.HttpServerResponse, E, R>,
  options: EdgeOptions
) => {
  const bodyLimit = ByteSize.bytes(maxBodyBytes)
  const withHeaders = answerHeaders(options)
  const { limiting } = options
  const refused = envelope(429)
  const preflight = HttpServerResponse.empty({ status: 204, headers: preflightHeaders(options.requestHeaders) })

  const answer = (request: Request) => {
    const own = options.bodyLimits?.get(`${request.method} ${pathOf(request.url)}`)
    // Declared sizes are refused before a byte is read; undeclared ones while they stream.
    if (Number(request.headers["content-length"] ?? 0) > (own ?? maxBodyBytes)) {
      const message = own === undefined ? undefined : `The body exceeds the limit of ${own} bytes.`
      return Effect.succeed(envelope(413, { connection: "close" }, message))
    }
    // Not every route reads a body of unknown length; one with a separate limit reads it part by part.
    const whole = own === undefined && isChunked(request)
      ? Effect.andThen(Effect.catch(request.text, Effect.die), app)
      : app
    return Effect.matchCauseEffect(whole, { onSuccess: Effect.succeed, onFailure: answerFailure })
  }

  /** Requests without credentials are counted first; others by the routes, or at the latest when they are answered. */
  const admitted = (request: Request, facts: RequestFacts) => {
    if (!options.isOwnHost(request.headers["host"])) return Effect.succeed(envelope(421))
    return isPreflight(request)
      ? Effect.succeed(preflight)
      : Effect.flatMap(limiting.arrive(request, facts), (so) => so ? answer(request) : Effect.succeed(refused))
  }

  const complete = (request: Request, response: HttpServerResponse.HttpServerResponse, { isRaw }: RequestFacts) => {
    if (response.status < 400 || isRaw === true) return response
    const methods = response.status === 404 ? options.methodsOf(pathOf(request.url)) : []
    if (methods.length > 0 && !methods.includes(request.method)) return envelope(405, { allow: methods.join(", ") })
    return hasOwnBody(response) ? response : envelope(response.status)
  }

  /** The router leaves the route it found in the fiber's context, which is the enclosing context again further out. */
  const counted = (request: Request, facts: RequestFacts, began: number) =>
    Effect.flatMap(admitted(request, facts), (answered) => {
      const own = complete(request, answered, facts)
      return Effect.flatMap(limiting.leave(request, facts, own.status), (standing) => {
        const whole = standing.admitted ? own : refused
        const end = (route: HttpRouter.Route<unknown, unknown> | undefined, response: Response) => {
          countRequest(route, response.status, (performance.now() - began) / 1_000)
          return [response, standing] as const
        }
        // What a route made of bytes goes out as it is.
        const isOwn = whole.status < 400 || (facts.isRaw === true && standing.admitted)
        if (isOwn) return Effect.withFiberSucceed((fiber) => end(foundBy(fiber.context), whole))
        return Effect.withFiber((fiber) => {
          const route = foundBy(fiber.context)
          const shape = options.refusalShapeOf?.(request, route)
          const response = shape === undefined ? Effect.succeed(whole) : reshaped(whole, shape)
          return Effect.map(response, (one) => end(route, one))
        })
      })
    })

  return Effect.gen(function*() {
    const began = performance.now()
    const request = yield* HttpServerRequest.HttpServerRequest
    const requestId = requestIdOf(request.headers["x-request-id"])
    const own = withClientAddress(request, options.isProxy)
    const facts: RequestFacts = {}
    // Added, not merged: merging a context copies all services of the process for every request.
    const [response, standing] = yield* Effect.updateContext(
      counted(own, facts, began),
      (context: Context.Context<R>) =>
        context.pipe(
          Context.add(HttpIncomingMessage.MaxBodySize, bodyLimit),
          Context.add(RequestId, requestId),
          Context.add(CurrentRequest, facts),
          Context.add(HttpServerRequest.HttpServerRequest, own)
        )
    )
    return withHeaders(request, response, standing, requestId)
  })
}
