import { Effect, Layer } from "effect"
import { PrometheusMetrics } from "effect/observability"
import { PrometheusExporter } from "../../http/health/HealthHttp.ts"
import { deploymentMetrics } from "./DeploymentMetrics.ts"
import { processMetrics } from "./ProcessMetrics.ts"

/** Everything that is counted anywhere in this process, written at most once a second. */
export const telemetryLayer = Layer.effect(
  PrometheusExporter,
  Effect.gen(function*() {
    const deployment = yield* deploymentMetrics
    const process = yield* processMetrics
    const write = Effect.andThen(deployment.read, PrometheusMetrics.format())
    return PrometheusExporter.of({ text: yield* Effect.cachedWithTTL(Effect.tap(write, process.restart), "1 second") })
  })
)
