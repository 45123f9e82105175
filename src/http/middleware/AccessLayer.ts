import { Context, Effect, Layer, Option } from "effect"
import { HttpEffect, HttpServerRequest, HttpServerResponse } from "effect/http"
import { Access, admit, Storeless } from "../../domain/access/AccessRule.ts"
import { type Actor, CurrentActor } from "../../domain/access/Actor.ts"
import { Forbidden, OriginRejected, TooManyRequests } from "../../domain/errors/ApiErrors.ts"
import { Actors, type Caller } from "../access/Actors.ts"
import { withoutMapping } from "../server/ClientAddress.ts"
import { TrustedOrigins } from "../server/Cors.ts"
import { isCrossSite } from "../server/CrossSite.ts"
import { RateLimiting } from "../server/RateLimiting.ts"
import { CurrentRequest, type RequestFacts } from "../server/RequestId.ts"
import { type OwnRate, RouteRate } from "../server/RouteRate.ts"
import { AccessControl } from "./Access.ts"

/** Longest part of a client's program name that the change log keeps. */
const maxUserAgent = 256

/** Where a request comes from: the change log tells it of every change. */
export const originOf = (
  { headers, remoteAddress }: Pick<HttpServerRequest.HttpServerRequest, "headers" | "remoteAddress">
) => ({
  ip: Option.getOrNull(Option.map(remoteAddress, withoutMapping)),
  userAgent: headers["user-agent"]?.slice(0, maxUserAgent) ?? null,
  source: "rest" as const
})

/** A browser is told that its session goes on for longer. */
export const sendCookie = (cookie: string) =>
  HttpEffect.appendPreResponseHandler((_request, response) =>
    Effect.succeed(HttpServerResponse.setHeader(response, "set-cookie", cookie))
  )

/** `AccessControl` over whoever the headers of a request show. */
export const accessLayer = Layer.effect(
  AccessControl,
  Effect.gen(function*() {
    const [actors, limiting, origins] = yield* Effect.all([Actors, RateLimiting, TrustedOrigins])

    /** Counts the request against its caller's limits, unless he is a visitor whom the edge has counted. */
    const count = (
      request: HttpServerRequest.HttpServerRequest,
      facts: RequestFacts,
      caller: Caller,
      own: OwnRate | undefined
    ) =>
      facts.standing !== undefined && own === undefined ? Effect.void : Effect.flatMap(
        limiting.identify(request, facts, caller, own),
        (admitted) => admitted ? Effect.void : Effect.fail(TooManyRequests.of())
      )

    return AccessControl.of((handler, { endpoint }) =>
      Effect.gen(function*() {
        const request = yield* HttpServerRequest.HttpServerRequest
        const facts = (yield* CurrentRequest) ?? {}
        const rule = Context.getOption(endpoint.annotations, Access)
        const own = Context.getOrUndefined(endpoint.annotations, RouteRate)
        const storeless = Context.getOrUndefined(endpoint.annotations, Storeless) === true
        const mayGuess = limiting.mayGuess(request, facts)
        const asked = { method: request.method, url: request.url, storeless, mayGuess }
        // Whoever shows credentials that are worth nothing is counted by the edge when he is answered.
        const caller = yield* Effect.tapErrorTag(
          actors.fromHeaders(request.headers, asked),
          "Unauthorized",
          () => limiting.guessed(request)
        )
        yield* count(request, facts, caller, own)
        if (isCrossSite(request, caller.credential, origins.isTrusted, origins.production)) {
          return yield* OriginRejected.of()
        }
        const { credential: _, metered: ___, rateLimit: __, renewedCookie, ...found } = caller
        if (renewedCookie !== undefined) yield* sendCookie(renewedCookie)
        const actor: Actor = { ...found, ...originOf(request) }
        facts.organizationId = actor.organizationId
        // A route without a rule is a mistake of ours; refusing everybody is the safe reading of it.
        if (Option.isNone(rule)) return yield* Forbidden.of("This route has no access rule.")
        yield* admit(actor, rule.value)
        return yield* Effect.provideService(handler, CurrentActor, actor)
      })
    )
  })
)
