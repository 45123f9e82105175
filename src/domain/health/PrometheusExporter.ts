import { Context, type Effect } from "effect"

/** The metrics of this process, and of the deployment as it sees it, in the text format of Prometheus (0.0.4). */
export class PrometheusExporter extends Context.Service<PrometheusExporter, {
  readonly text: Effect.Effect<string>
}>()("stoa/domain/health/PrometheusExporter") {}
