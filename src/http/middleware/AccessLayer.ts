import { Context, Effect, Layer, Option } from "effect"
import { HttpEffect, HttpServerRequest, HttpServerResponse } from "effect/http"
import { Access, admit, NoAccessRule, Storeless } from "../../domain/platform/access/AccessRule.ts"
import { type Actor, CurrentActor } from "../../domain/platform/access/Actor.ts"
import { OriginRejected } from "../../domain/platform/errors/ApiErrors.ts"
import { Actors, type Caller } from "../access/Actors.ts"
import { checkReader, endWithAccess } from "../access/StreamAccess.ts"
import { isCrossSite, TrustedOrigins, withoutMapping } from "../server/Origins.ts"
import { RateLimiting } from "../server/RateLimiting.ts"
import { CurrentRequest } from "../server/RequestId.ts"
import { AccessControl, RouteRate } from "./Access.ts"

const maxUserAgent = 256

/** The actor of a request, with its origin for the change log. */
export const actorOf = (
  { credential: _, metered: __, rateLimit: ___, renewedCookie: ____, ...actor }: Caller,
  { headers, remoteAddress }: Pick<HttpServerRequest.HttpServerRequest, "headers" | "remoteAddress">
): Actor => ({
  ...actor,
  ip: Option.getOrNull(Option.map(remoteAddress, withoutMapping)),
  userAgent: headers["user-agent"]?.slice(0, maxUserAgent) ?? null,
  source: "rest"
})

/** Sends the renewed session cookie with the answer. */
export const sendCookie = (cookie: string) =>
  HttpEffect.appendPreResponseHandler((_request, response) =>
    Effect.succeed(HttpServerResponse.setHeader(response, "set-cookie", cookie))
  )

export const accessLayer = Layer.effect(
  AccessControl,
  Effect.gen(function*() {
    const [actors, limiting, origins] = yield* Effect.all([Actors, RateLimiting, TrustedOrigins])

    return AccessControl.of((handler, { endpoint }) =>
      Effect.gen(function*() {
        const request = yield* HttpServerRequest.HttpServerRequest
        const facts = (yield* CurrentRequest) ?? {}
        const rate = Context.getOrUndefined(endpoint.annotations, RouteRate)
        const storeless = Context.getOrUndefined(endpoint.annotations, Storeless) === true
        const mayGuess = limiting.mayGuess(request, facts)
        const asked = { method: request.method, url: request.url, storeless, mayGuess }
        // The edge counts requests with invalid credentials when it answers them.
        const caller = yield* Effect.tapErrorTag(
          actors.fromHeaders(request.headers, asked),
          "Unauthorized",
          () => limiting.guessed(request)
        )
        // The edge has counted visitors.
        if (facts.standing === undefined || rate !== undefined) {
          yield* limiting.identify(request, facts, caller, rate)
        }
        if (isCrossSite(request, caller.credential, origins.isTrusted, origins.production)) {
          return yield* OriginRejected.of()
        }
        if (caller.renewedCookie !== undefined) yield* sendCookie(caller.renewedCookie)
        const actor = actorOf(caller, request)
        facts.organizationId = actor.organizationId
        const rule = Context.getOrUndefined(endpoint.annotations, Access)
        if (rule === undefined) return yield* new NoAccessRule("route")
        yield* admit(actor, rule)
        const response = yield* Effect.provideService(handler, CurrentActor, actor)
        const again = actors.fromHeaders(request.headers, { ...asked, mayGuess: undefined, isRepeat: true })
        return endWithAccess(response, checkReader(again, actor, rule))
      })
    )
  })
)
