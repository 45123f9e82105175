import { type HttpServerRequest, HttpServerResponse } from "effect/http"
import type { Standing } from "../../domain/ratelimits/RateLimits.ts"
import { cameInPlain, type ProxyTest } from "./ClientAddress.ts"
import { corsHeaders, type OriginTest } from "./Cors.ts"
import type { Farewell } from "./Draining.ts"
import { secondsToWait, showsCredentials, standingHeaders } from "./RateLimiting.ts"

/** What the headers of answers depend on in this deployment. */
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
    // All headers are copied, which is what this costs: once.
    return HttpServerResponse.setHeaders(response, headers)
  }
}
