import { Context, Effect } from "effect"
import { HttpApi, HttpApiBuilder } from "effect/http-api"
import { HealthGroup, type Healthy, MetricsGroup, type Ready, type Unhealthy, type Unready } from "./HealthApi.ts"

/** What the public routes answer. The database is checked at most once a second, for any number of callers. */
export class Health extends Context.Service<Health, {
  readonly check: Effect.Effect<typeof Healthy.Type, Unhealthy>
  /** The response of a live process, independent of the database. */
  readonly alive: typeof Healthy.Type
  readonly ready: Effect.Effect<typeof Ready.Type, Unready>
}>()("stoa/http/health/Health") {}

/** The metrics of this process, and of the deployment as it sees it, in the text format of Prometheus (0.0.4). */
export class PrometheusExporter extends Context.Service<PrometheusExporter, {
  readonly text: Effect.Effect<string>
}>()("stoa/http/health/PrometheusExporter") {}

/** Handlers of the routes that `HealthApi.ts` declares. */
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

/** Handlers of the routes that `MetricsApi.ts` declares. */
export const metricsHttp = HttpApiBuilder.group(
  HttpApi.make("stoa").add(MetricsGroup),
  "metrics",
  Effect.fnUntraced(function*(handlers) {
    const prometheusText = yield* PrometheusExporter
    return handlers.handleAll({ metrics: () => prometheusText.text, rootMetrics: () => prometheusText.text })
  })
)
