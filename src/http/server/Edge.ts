import { ByteSize, Context, Effect, Tracer } from "effect"
import { HttpIncomingMessage, HttpRouter, HttpServerRequest, HttpServerResponse } from "effect/http"
import { answerHeaders, type AnswerOptions } from "./AnswerHeaders.ts"
import { withClientAddress } from "./ClientAddress.ts"
import { preflightHeaders } from "./Cors.ts"
import { answerFailure, envelope } from "./Failure.ts"
import type { HostTest } from "./OwnHosts.ts"
import type { RateLimiting } from "./RateLimiting.ts"
import { CurrentRequest, type RequestFacts, RequestId, requestIdOf } from "./RequestId.ts"
import { requestMetrics, routeTemplate } from "./RequestMetrics.ts"

/** What the edge has to know of the deployment and of its router. */
export interface EdgeOptions extends AnswerOptions {
  readonly limiting: RateLimiting["Service"]
  readonly isOwnHost: HostTest
  /** Methods that a path answers to; empty for an unknown path. */
  readonly methodsOf: (path: string) => ReadonlyArray<string>
  /** Body limits in bytes of single routes (`POST /path`), which enforce them while they read. */
  readonly bodyLimits?: ReadonlyMap<string, number>
}

type Request = HttpServerRequest.HttpServerRequest

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

/** A body of unknown length. */
const isChunked = ({ headers }: Request): boolean => headers["transfer-encoding"] !== undefined

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
  const count = requestMetrics()
  const withHeaders = answerHeaders(options)
  const { limiting } = options
  const refused = envelope(429)

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
      ? Effect.succeed(HttpServerResponse.empty({ status: 204, headers: preflightHeaders }))
      : Effect.flatMap(limiting.arrive(request, facts), (so) => so ? answer(request) : Effect.succeed(refused))
  }

  const complete = (request: Request, response: HttpServerResponse.HttpServerResponse) => {
    if (response.status < 400) return response
    const methods = response.status === 404 ? options.methodsOf(pathOf(request.url)) : []
    if (methods.length > 0 && !methods.includes(request.method)) return envelope(405, { allow: methods.join(", ") })
    return hasOwnBody(response) ? response : envelope(response.status)
  }

  /** The router leaves the route it found in the fiber's context, which is the enclosing context again further out. */
  const counted = (request: Request, facts: RequestFacts, began: number) =>
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
            return [response, standing] as const
          })
      )
    })

  return Effect.gen(function*() {
    const began = performance.now()
    const request = yield* HttpServerRequest.HttpServerRequest
    const requestId = requestIdOf(request.headers["x-request-id"])
    const own = withClientAddress(request, options.isProxy)
    const facts: RequestFacts = {}
    // One service at a time: merging a context copies all services of the process for every request.
    const [response, standing] = yield* counted(own, facts, began).pipe(
      Effect.provideService(HttpIncomingMessage.MaxBodySize, bodyLimit),
      Effect.provideService(RequestId, requestId),
      Effect.provideService(CurrentRequest, facts),
      Effect.provideService(HttpServerRequest.HttpServerRequest, own)
    )
    return withHeaders(request, response, standing, requestId)
  })
}
