import { Effect } from "effect"
import { HttpApi, HttpApiBuilder } from "effect/http-api"
import { Exposition } from "../../domain/health/Exposition.ts"
import { MetricsGroup } from "./MetricsApi.ts"

/** Handlers of the routes that `MetricsApi.ts` declares. */
export const metricsHttp = HttpApiBuilder.group(
  HttpApi.make("stoa").add(MetricsGroup),
  "metrics",
  Effect.fnUntraced(function*(handlers) {
    const exposition = yield* Exposition
    return handlers.handleAll({ metrics: () => exposition.text, rootMetrics: () => exposition.text })
  })
)
