import { Context, Effect } from "effect"
import { HttpApi, HttpApiBuilder } from "effect/http-api"
import { HealthGroup, type Healthy, MetricsGroup, type Ready, type Unhealthy, type Unready } from "./HealthApi.ts"

/** Checks the database at most once a second. */
export class Health extends Context.Service<Health, {
  readonly check: Effect.Effect<typeof Healthy.Type, Unhealthy>
  readonly alive: typeof Healthy.Type
  readonly ready: Effect.Effect<typeof Ready.Type, Unready>
}>()("stoa/http/health/Health") {}

/** Metrics in the text format of Prometheus (0.0.4). */
export class PrometheusExporter extends Context.Service<PrometheusExporter, {
  readonly text: Effect.Effect<string>
}>()("stoa/http/health/PrometheusExporter") {}

export const healthHttp = HttpApiBuilder.group(
  HttpApi.make("stoa").add(HealthGroup),
  "health",
  Effect.fnUntraced(function*(handlers) {
    const health = yield* Health
    return handlers.handleAll({
      health: () => health.check,
      live: () => Effect.succeed(health.alive),
      ready: () => health.ready,
      rootReady: () => health.ready
    })
  })
)

export const metricsHttp = HttpApiBuilder.group(
  HttpApi.make("stoa").add(MetricsGroup),
  "metrics",
  Effect.fnUntraced(function*(handlers) {
    const prometheusText = yield* PrometheusExporter
    return handlers.handleAll({ metrics: () => prometheusText.text, rootMetrics: () => prometheusText.text })
  })
)
