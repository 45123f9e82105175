import { Layer } from "effect"
import { defineModule } from "../../domain/platform/modules/Module.ts"
import { migrations } from "../../domain/shipping/migrations.ts"
import { ShippingPrices } from "../../domain/shipping/ShippingPrices.ts"
import { shippingRecordsLayer, ShippingRuleCache, ShippingRuleRepo } from "../../domain/shipping/ShippingRepo.ts"
import { shippingHttp } from "../../http/shipping/ShippingHttp.ts"
import { events } from "./events.ts"
import { tenancy } from "./tenancy.ts"

/** Shipping destinations and costs (contract §3.4). Needs the settings of shipping. */
export const shipping = defineModule({
  id: "shipping",
  requires: [tenancy, events],
  permissions: [{ scope: "shipping:manage", description: "Manage shipping zones and rates" }],
  migrations,
  services: Layer.merge(ShippingPrices.layer, shippingRecordsLayer).pipe(
    Layer.provide(ShippingRuleCache.layer),
    Layer.provide(ShippingRuleRepo.layer)
  ),
  routes: shippingHttp
})
