import { Effect } from "effect"
import { HttpApi, HttpApiBuilder } from "effect/http-api"
import { PrometheusExporter } from "../../domain/health/PrometheusExporter.ts"
import { MetricsGroup } from "./MetricsApi.ts"

/** Handlers of the routes that `MetricsApi.ts` declares. */
export const metricsHttp = HttpApiBuilder.group(
  HttpApi.make("stoa").add(MetricsGroup),
  "metrics",
  Effect.fnUntraced(function*(handlers) {
    const prometheusText = yield* PrometheusExporter
    return handlers.handleAll({ metrics: () => prometheusText.text, rootMetrics: () => prometheusText.text })
  })
)
