import { Context } from "effect"
import { HttpApiMiddleware } from "effect/http-api"
import type { CurrentActor } from "../../domain/platform/access/Actor.ts"
import {
  Forbidden,
  OrgResolutionFailed,
  OriginRejected,
  TooManyRequests,
  TwoFactorRequired,
  Unauthorized
} from "../../domain/platform/errors/ApiErrors.ts"

/**
 * Authenticates a request and checks the endpoint's access rule before anything of it is decoded. On every group, as
 * the outermost middleware: rate limits, the check of origins, handlers, idempotency and repositories read the actor
 * and its organization. 401 without credentials, 403 with them (contract §0.3).
 */
export class AccessControl extends HttpApiMiddleware.Service<AccessControl, { provides: CurrentActor }>()(
  "stoa/http/AccessControl",
  { error: [Unauthorized, Forbidden, OriginRejected, TwoFactorRequired, TooManyRequests, OrgResolutionFailed] }
) {}

/**
 * What a route counts against beside the limit of all requests; `none` for a route that the edge alone limits. `strict:…`
 * has a counter of its name.
 */
export type OwnRate = "checkout" | "promotionTrial" | "none" | `strict:${string}`

export class RouteRate extends Context.Service<RouteRate, OwnRate>()("stoa/http/middleware/RouteRate") {}

/** Annotation of an endpoint that a guest opens with the secret of the cart (contract §2). */
export class OpensWithCartSecret
  extends Context.Service<OpensWithCartSecret, true>()("stoa/http/middleware/OpensWithCartSecret")
{}
