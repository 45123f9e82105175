import { Layer } from "effect"
import { CacheInvalidation } from "../../domain/platform/access/CacheInvalidation.ts"
import { idempotencyRepoLayer } from "../../domain/platform/idempotency/IdempotencyRepo.ts"
import { JobRecordRepo } from "../../domain/platform/jobs/JobRecordRepo.ts"
import { defineModule } from "../../domain/platform/modules/Module.ts"
import { ListTotalsRepo } from "../../domain/platform/paging/ListTotalsRepo.ts"
import { migrations } from "../../domain/platform/tenancy/migrations.ts"
import { OrganizationRepo } from "../../domain/platform/tenancy/OrganizationRepo.ts"
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

export const tenancy = defineModule({
  id: "tenancy",
  permissions: [{ scope: "metrics:read", description: "Read the metrics of the service" }],
  migrations,
  services: Layer.mergeAll(idempotencyRepoLayer, health, organizations, ListTotalsRepo.layer),
  routes: Layer.merge(healthHttp, metricsHttp)
})
