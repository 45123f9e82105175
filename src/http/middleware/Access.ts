import { Context, Effect, Layer, Option } from "effect"
import { HttpServerRequest } from "effect/http"
import { HttpApiMiddleware } from "effect/http-api"
import { Access, admit } from "../../domain/access/AccessRule.ts"
import { type Actor, CurrentActor } from "../../domain/access/Actor.ts"
import { Forbidden, TooManyRequests, Unauthorized } from "../../domain/errors/ApiErrors.ts"
import { Actors } from "../access/Actors.ts"
import { withoutMapping } from "../server/ClientAddress.ts"
import { type OwnRate, RateLimiting, RouteRate } from "../server/RateLimiting.ts"
import { CurrentRequest, type RequestFacts } from "../server/RequestId.ts"

/**
 * Finds out who asks and holds him to the endpoint's access rule before anything of the request is decoded. On every
 * group, as the outermost middleware: handlers, idempotency and repositories read the actor and with him the
 * organization. 401 without credentials, 403 with them (contract §0.3).
 */
export class AccessControl extends HttpApiMiddleware.Service<AccessControl, { provides: CurrentActor }>()(
  "stoa/http/AccessControl",
  { error: [Unauthorized, Forbidden, TooManyRequests] }
) {}

/** Longest part of a client's program name that the journal keeps. */
const maxUserAgent = 256

/** Where a request comes from: the journal tells it of every change. */
const originOf = ({ headers, remoteAddress }: HttpServerRequest.HttpServerRequest) => ({
  ip: Option.getOrNull(Option.map(remoteAddress, withoutMapping)),
  userAgent: headers["user-agent"]?.slice(0, maxUserAgent) ?? null,
  source: "rest" as const
})

export const accessLayer = Layer.effect(
  AccessControl,
  Effect.gen(function*() {
    const [actors, limiting] = yield* Effect.all([Actors, RateLimiting])

    /** Who asks, counted against his limits; whoever shows credentials that are worth nothing, against his address's. */
    const callerOf = Effect.fnUntraced(function*(
      request: HttpServerRequest.HttpServerRequest,
      facts: RequestFacts,
      own: OwnRate | undefined
    ) {
      const caller = yield* Effect.tapError(
        actors.fromHeaders(request.headers),
        () =>
          Effect.flatMap(
            limiting.identify(request, facts, undefined, own),
            (admitted) => admitted ? Effect.void : Effect.fail(TooManyRequests.of())
          )
      )
      return (yield* limiting.identify(request, facts, caller, own)) ? caller : yield* TooManyRequests.of()
    })

    return AccessControl.of((handler, { endpoint }) =>
      Effect.gen(function*() {
        const request = yield* HttpServerRequest.HttpServerRequest
        const facts = (yield* CurrentRequest) ?? {}
        const rule = Context.getOption(endpoint.annotations, Access)
        const own = Context.getOrUndefined(endpoint.annotations, RouteRate)
        const actor: Actor = { ...yield* callerOf(request, facts, own), ...originOf(request) }
        facts.organizationId = actor.organizationId
        // A route without a rule is a mistake of ours; refusing everybody is the safe reading of it.
        if (Option.isNone(rule)) return yield* Forbidden.of("This route has no access rule.")
        yield* admit(actor, rule.value)
        return yield* Effect.provideService(handler, CurrentActor, actor)
      })
    )
  })
)
