import { Clock, Effect, Layer, Metric, Option } from "effect"
import { PrometheusMetrics } from "effect/observability"
import type { Check } from "../../http/health/HealthApi.ts"
import { PrometheusExporter } from "../../http/health/HealthHttp.ts"
import { HealthContributors, metricsOf } from "../health/HealthContributors.ts"
import { HealthRepo } from "../health/HealthRepo.ts"
import { type Assessment, Readiness } from "../health/Readiness.ts"
import { processMetrics } from "./ProcessMetrics.ts"

const gauge = (name: string, description: string) => Metric.gauge(name, { description })

const check = gauge("stoa_readiness_check", "1: the check of readiness is ok, 0: it fails or could not be made")
const runners = gauge("stoa_cluster_runners_alive", "Runners of the deployment that are alive")
const shards = gauge("stoa_cluster_shards", "Shards of the deployment")
const owned = gauge("stoa_cluster_shards_owned", "Shards of the deployment that a living runner owns")
const oldest = gauge(
  "stoa_cluster_oldest_waiting_message_seconds",
  "How long the oldest message that is due has been waiting for a runner to take it; 0 when none waits"
)
const connections = gauge("stoa_database_connections", "Connections of the whole deployment, by pool and state")

const setReadiness = Effect.fnUntraced(function*({ checks, healthChecks }: Assessment) {
  for (const [name, { status }] of Object.entries<Check>(checks)) {
    yield* Metric.update(Metric.withAttributes(check, { check: name }), status === "ok" ? 1 : 0)
  }
  const now = yield* Clock.currentTimeMillis
  const found = Option.getOrUndefined(healthChecks)
  const waited = found?.waitingSince === undefined ? 0 : Math.max(0, now - found.waitingSince) / 1_000
  // Not 0: an alarm on an unknown value would stay silent.
  yield* Metric.update(runners, found?.runners.length ?? NaN)
  yield* Metric.update(shards, found?.shards.length ?? NaN)
  yield* Metric.update(owned, found?.owned.size ?? NaN)
  yield* Metric.update(oldest, found === undefined ? NaN : waited)
})

export const deploymentMetrics = Effect.gen(function*() {
  const readiness = yield* Readiness
  const repo = yield* HealthRepo
  const contributions = yield* HealthContributors
  const known = new Map<string, ReturnType<typeof gauge>>()

  const setConnections = Effect.gen(function*() {
    const now = new Map((yield* repo.connections).map((found) => [`${found.pool} ${found.state}`, found]))
    for (const [key, { pool, state }] of now) {
      if (!known.has(key)) known.set(key, Metric.withAttributes(connections, { pool, state }))
    }
    for (const [key, metric] of known) yield* Metric.update(metric, now.get(key)?.count ?? 0)
  })

  const read = Effect.gen(function*() {
    yield* setReadiness(yield* readiness.assess)
    yield* setConnections
    yield* metricsOf(contributions.all())
  })
  return { read }
})

export const telemetryLayer = Layer.effect(
  PrometheusExporter,
  Effect.gen(function*() {
    const deployment = yield* deploymentMetrics
    const process = yield* processMetrics
    const write = Effect.andThen(deployment.read, PrometheusMetrics.format())
    return PrometheusExporter.of({ text: yield* Effect.cachedWithTTL(Effect.tap(write, process.restart), "1 second") })
  })
)
