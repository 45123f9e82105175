import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema, OpenApi } from "effect/http-api"
import { Access, anyOf, Storeless } from "../../domain/access/AccessRule.ts"
import { AccessControl } from "../middleware/Access.ts"
import { Errors } from "../middleware/Errors.ts"
import { RouteRate } from "../server/RouteRate.ts"

const PrometheusText = Schema.String.pipe(HttpApiSchema.asText({ contentType: "text/plain; version=0.0.4" }))

/** The metrics of a process: for operators, since they tell how much a store sells (docs/operations.md). */
export const MetricsGroup = HttpApiGroup.make("metrics").add(
  HttpApiEndpoint.get("rootMetrics", "/metrics", { success: PrometheusText })
    .annotate(Access, anyOf("metrics:read"))
    .annotate(Storeless, true)
    .annotate(RouteRate, "none")
    .annotateMerge(OpenApi.annotations({ summary: "The same as /api/metrics" })),
  HttpApiEndpoint.get("metrics", "/api/metrics", { success: PrometheusText })
    .annotate(Access, anyOf("metrics:read"))
    .annotate(Storeless, true)
    .annotate(RouteRate, "none")
    .annotateMerge(OpenApi.annotations({ summary: "Metrics of this process, in the text format of Prometheus" }))
)
  .middleware(Errors).middleware(AccessControl)
