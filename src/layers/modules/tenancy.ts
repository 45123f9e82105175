import { Layer } from "effect"
import { Health } from "../../domain/health/Health.ts"
import { healthRepoLayer } from "../../domain/health/HealthRepo.ts"
import { idempotencyRepoLayer } from "../../domain/idempotency/IdempotencyRepo.ts"
import { defineModule } from "../../domain/modules/Module.ts"
import { migrations } from "../../domain/tenancy/migrations.ts"
import { healthHttp } from "../../http/health/HealthHttp.ts"
import { ofRoutes, seeing } from "../Sight.ts"
import { version } from "../Version.ts"

/** Organizations and the kernels that have tables: outbox and idempotency keys. */
export const tenancy = defineModule({
  id: "tenancy",
  version: "1.0.0",
  requires: [],
  permissions: [],
  migrations,
  services: Layer.mergeAll(idempotencyRepoLayer, Layer.provide(Health.layerOf(version), healthRepoLayer)),
  routes: healthHttp.pipe(seeing(Health, ...ofRoutes))
})
