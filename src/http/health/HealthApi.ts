import { HttpApiEndpoint, HttpApiGroup, OpenApi } from "effect/http-api"
import { Access, open } from "../../domain/access/AccessRule.ts"
import { Healthy, Unhealthy } from "../../domain/health/HealthAnswer.ts"
import { Ready, Unready } from "../../domain/health/Readiness.ts"

/** Whether this process can work (spec §4, documentation and health), and whether the deployment around it does. */
export const HealthGroup = HttpApiGroup.make("health").add(
  HttpApiEndpoint.get("live", "/health/live", { success: Healthy })
    .annotate(Access, open)
    .annotateMerge(OpenApi.annotations({ summary: "Life of this process, whatever its database does" })),
  HttpApiEndpoint.get("rootReady", "/health/ready", { success: Ready, error: Unready })
    .annotate(Access, open)
    .annotateMerge(OpenApi.annotations({ summary: "The same as /api/ready" })),
  HttpApiEndpoint.get("health", "/api/health", { success: Healthy, error: Unhealthy })
    .annotate(Access, open)
    .annotateMerge(OpenApi.annotations({ summary: "Health of the service and its database" })),
  HttpApiEndpoint.get("ready", "/api/ready", { success: Ready, error: Unready })
    .annotate(Access, open)
    .annotateMerge(OpenApi.annotations({
      summary: "Readiness of the deployment",
      description: "Looks at the database, the runners, the owners of the shards and the age of waiting messages."
    }))
)
