import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema } from "effect/http-api"
import { Access, anyOf, open, Storeless } from "../../domain/platform/access/AccessRule.ts"
import { about } from "../../domain/platform/hints/Hints.ts"
import { summary } from "../endpoint/Resource.ts"
import { AccessControl, RouteRate } from "../middleware/Access.ts"
import { Errors } from "../middleware/Errors.ts"

const version = Schema.String.pipe(about("Version of the service."))

/** Spec §4, GET /health. */
export const Healthy = Schema.Struct({ status: Schema.Literal("ok").pipe(about("Always ok.")), version })

/** 503: no database, or shutting down (spec §4). The specification's shape, not the envelope. */
export class Unhealthy extends Schema.Error<Unhealthy>("Unhealthy")({
  status: Schema.Literal("error").pipe(about("Always error.")),
  version,
  database: Schema.Literals(["unreachable", "closing"]).pipe(about("closing: the service is shutting down."))
}, { httpApiStatus: 503 }) {
  readonly _tag = "Unhealthy"
}

export const Check = Schema.Struct({
  status: Schema.Literals(["ok", "failing", "unknown"]).pipe(about("unknown: it could not be checked.")),
  message: Schema.optionalKey(Schema.String)
})
export type Check = typeof Check.Type

const Body = {
  version,
  checks: Schema.StructWithRest(
    Schema.Struct({
      database: Check.pipe(about("The database answers.")),
      runners: Check.pipe(about("A process runs entities.")),
      shards: Check.pipe(about("Every shard of the cluster has an owner.")),
      messages: Check.pipe(about("Messages to entities do not wait for long."))
    }),
    [Schema.Record(Schema.String, Check)]
  ).pipe(about("Result of each check, by its name."))
}

/** Reads are served and changes reach their entities (ARCHITECTURE §5). */
export const Ready = Schema.Struct({ status: Schema.Literal("ready").pipe(about("Always ready.")), ...Body })

/** 503: a check fails. Like health, not the envelope. */
export class Unready extends Schema.Error<Unready>("Unready")({
  status: Schema.Literal("unready").pipe(about("Always unready.")),
  ...Body
}, { httpApiStatus: 503 }) {
  readonly _tag = "Unready"
}

/** Health of the process and of the deployment (spec §4, documentation and health). */
export const HealthGroup = HttpApiGroup.make("health").add(
  HttpApiEndpoint.get("live", "/health/live", { success: Healthy })
    .annotate(Access, open)
    .annotateMerge(summary("Check that this process is alive, also without its database")),
  HttpApiEndpoint.get("rootReady", "/health/ready", { success: Ready, error: Unready })
    .annotate(Access, open)
    .annotateMerge(summary("Check that the deployment is ready, as /api/ready")),
  HttpApiEndpoint.get("health", "/api/health", { success: Healthy, error: Unhealthy })
    .annotate(Access, open)
    .annotateMerge(summary("Get the health of the service and its database")),
  HttpApiEndpoint.get("ready", "/api/ready", { success: Ready, error: Unready })
    .annotate(Access, open)
    .annotateMerge(
      summary(
        "Check that the deployment is ready",
        "Looks at the database, the runners, the owners of the shards and the age of waiting messages."
      )
    )
)

const PrometheusText = Schema.String.pipe(HttpApiSchema.asText({ contentType: "text/plain; version=0.0.4" }))

/** For operators: metrics tell how much a store sells (docs/operations.md). */
export const MetricsGroup = HttpApiGroup.make("metrics").add(
  HttpApiEndpoint.get("rootMetrics", "/metrics", { success: PrometheusText })
    .annotate(Access, anyOf("metrics:read"))
    .annotate(Storeless, true)
    .annotate(RouteRate, "none")
    .annotateMerge(summary("Get the metrics of this process, as /api/metrics")),
  HttpApiEndpoint.get("metrics", "/api/metrics", { success: PrometheusText })
    .annotate(Access, anyOf("metrics:read"))
    .annotate(Storeless, true)
    .annotate(RouteRate, "none")
    .annotateMerge(summary("Get the metrics of this process, in the text format of Prometheus"))
)
  .middleware(Errors).middleware(AccessControl)
