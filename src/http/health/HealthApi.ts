import { HttpApiEndpoint, HttpApiGroup, OpenApi } from "effect/http-api"
import { Access, open } from "../../domain/access/AccessRule.ts"
import { Healthy, Unhealthy } from "../../domain/health/Health.ts"

/** Whether the service can work (spec §4, documentation and health). */
export const HealthGroup = HttpApiGroup.make("health").add(
  HttpApiEndpoint.get("health", "/api/health", { success: Healthy, error: Unhealthy })
    .annotate(Access, open)
    .annotateMerge(OpenApi.annotations({ summary: "Health of the service and its database" }))
)
