import { Context } from "effect"

/** What a route counts against beside the limit of all requests; `none` for a route that the edge alone limits. */
export type OwnRate = "checkout" | "promotionTrial" | "none"

/** Annotation of an endpoint with an additional rate limit. */
export class RouteRate extends Context.Service<RouteRate, OwnRate>()("stoa/http/server/RouteRate") {}
