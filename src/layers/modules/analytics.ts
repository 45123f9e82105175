import { Effect, Layer } from "effect"
import { Analytics } from "../../domain/analytics/Analytics.ts"
import { AnalyticsRepo, modelCheckLayer } from "../../domain/analytics/AnalyticsRepo.ts"
import { AnalyticsModels } from "../../domain/platform/modules/AnalyticsModel.ts"
import { defineModule } from "../../domain/platform/modules/Module.ts"
import { analyticsHttp } from "../../http/analytics/AnalyticsHttp.ts"
import { AppConfig } from "../config/AppConfig.ts"
import { analyticsSqlLayer } from "../Database.ts"
import { customers } from "./customers.ts"
import { tenancy } from "./tenancy.ts"

const models = Layer.unwrap(
  Effect.map(AppConfig, ({ deployment }) => AnalyticsModels.layerOf(deployment.analytics.models))
)

/** Figures of a store by declared models (spec §4 Analytics). */
export const analytics = defineModule({
  id: "analytics",
  requires: [tenancy, customers],
  permissions: [{ scope: "analytics:read", description: "Ask for figures over all rows of the store" }],
  services: Layer.merge(Analytics.layer, modelCheckLayer).pipe(
    Layer.provide(Layer.provide(AnalyticsRepo.layer, analyticsSqlLayer)),
    Layer.provide(models)
  ),
  routes: analyticsHttp
})
