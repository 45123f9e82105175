import { Context, Effect, Layer, Option } from "effect"
import { HttpEffect, HttpServerRequest, HttpServerResponse } from "effect/http"
import { HttpApiMiddleware } from "effect/http-api"
import { Access, Storeless } from "../../domain/access/AccessRule.ts"
import { type Actor, CurrentActor, requireAnyOf } from "../../domain/access/Actor.ts"
import { Forbidden, OrgResolutionFailed, TwoFactorRequired, Unauthorized } from "../../domain/errors/ApiErrors.ts"
import { Actors } from "../access/Actors.ts"
import { withoutMapping } from "../server/ClientAddress.ts"
import { CurrentRequest } from "../server/RequestId.ts"

/**
 * Finds out who asks and holds him to the endpoint's access rule before anything of the request is decoded. On every
 * group, as the outermost middleware: handlers, idempotency and repositories read the actor and with him the
 * organization. 401 without credentials, 403 with them (contract §0.3).
 */
export class AccessControl extends HttpApiMiddleware.Service<AccessControl, { provides: CurrentActor }>()(
  "stoa/http/AccessControl",
  { error: [Unauthorized, Forbidden, TwoFactorRequired, OrgResolutionFailed] }
) {}

/** Longest part of a client's program name that the journal keeps. */
const maxUserAgent = 256

/** Where a request comes from: the journal tells it of every change. */
const originOf = ({ headers, remoteAddress }: HttpServerRequest.HttpServerRequest) => ({
  ip: Option.getOrNull(Option.map(remoteAddress, withoutMapping)),
  userAgent: headers["user-agent"]?.slice(0, maxUserAgent) ?? null,
  source: "rest" as const
})

/** A browser is told that its session goes on for longer. */
const sendCookie = (cookie: string) =>
  HttpEffect.appendPreResponseHandler((_request, response) =>
    Effect.succeed(HttpServerResponse.setHeader(response, "set-cookie", cookie))
  )

export const accessLayer = Layer.effect(
  AccessControl,
  Effect.map(Actors, (actors) =>
    AccessControl.of((handler, { endpoint }) =>
      Effect.gen(function*() {
        const request = yield* HttpServerRequest.HttpServerRequest
        const rule = Context.getOption(endpoint.annotations, Access)
        const storeless = Context.getOrUndefined(endpoint.annotations, Storeless) === true
        const { credential: _, rateLimit: __, renewedCookie, ...found } = yield* actors.fromHeaders(request.headers, {
          method: request.method,
          url: request.url,
          storeless
        })
        if (renewedCookie !== undefined) yield* sendCookie(renewedCookie)
        const actor: Actor = { ...found, ...originOf(request) }
        // A route without a rule is a mistake of ours; refusing everybody is the safe reading of it.
        if (Option.isNone(rule)) return yield* Forbidden.of("This route has no access rule.")
        const facts = yield* CurrentRequest
        if (facts !== undefined) facts.organizationId = actor.organizationId
        if (rule.value._tag === "AnyOf") yield* requireAnyOf(actor, rule.value.permissions)
        return yield* Effect.provideService(handler, CurrentActor, actor)
      })
    ))
)
