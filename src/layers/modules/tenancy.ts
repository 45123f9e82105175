import { Layer } from "effect"
import { CacheInvalidation } from "../../domain/access/CacheInvalidation.ts"
import { idempotencyRepoLayer } from "../../domain/idempotency/IdempotencyRepo.ts"
import { JobRecordRepo } from "../../domain/jobs/JobRecordRepo.ts"
import { defineModule } from "../../domain/modules/Module.ts"
import { ListTotalsRepo } from "../../domain/paging/ListTotalsRepo.ts"
import { migrations } from "../../domain/tenancy/migrations.ts"
import { OrganizationRepo } from "../../domain/tenancy/OrganizationRepo.ts"
import { healthHttp, metricsHttp } from "../../http/health/HealthHttp.ts"
import { healthRepoLayer } from "../health/HealthRepo.ts"
import { healthLayer, Readiness } from "../health/Readiness.ts"
import { telemetryLayer } from "../telemetry/Telemetry.ts"
import { version } from "../Version.ts"

const health = Layer.mergeAll(healthLayer(version), telemetryLayer).pipe(
  Layer.provideMerge(Readiness.layerOf(version)),
  Layer.provide(Layer.merge(healthRepoLayer, JobRecordRepo.layer))
)

const organizations = Layer.provideMerge(OrganizationRepo.layer, CacheInvalidation.layer)

/** Organizations, idempotency keys, health and readiness. */
export const tenancy = defineModule({
  id: "tenancy",
  permissions: [{ scope: "metrics:read", description: "Read the metrics of the service" }],
  migrations,
  services: Layer.mergeAll(idempotencyRepoLayer, health, organizations, ListTotalsRepo.layer),
  routes: Layer.merge(healthHttp, metricsHttp)
})
