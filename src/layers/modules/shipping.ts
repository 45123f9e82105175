import { Layer } from "effect"
import { defineModule } from "../../domain/modules/Module.ts"
import { migrations } from "../../domain/shipping/migrations.ts"
import { ShippingPrices } from "../../domain/shipping/ShippingPrices.ts"
import { shippingRateRepoLayer } from "../../domain/shipping/ShippingRateRepo.ts"
import { ShippingRates } from "../../domain/shipping/ShippingRates.ts"
import { ShippingRuleCache, shippingRuleRepoLayer } from "../../domain/shipping/ShippingRuleRepo.ts"
import { shippingZoneRepoLayer } from "../../domain/shipping/ShippingZoneRepo.ts"
import { ShippingZones } from "../../domain/shipping/ShippingZones.ts"
import { shippingHttp } from "../../http/shipping/ShippingHttp.ts"

/** Where a store ships to and what it costs (contract §3.4). Needs the settings of shipping. */
export const shipping = defineModule({
  id: "shipping",
  version: "1.0.0",
  requires: ["tenancy", "events"],
  permissions: [{ scope: "shipping:manage", description: "Manage shipping zones and rates" }],
  migrations,
  services: Layer.mergeAll(ShippingPrices.layer, ShippingZones.layer, ShippingRates.layer).pipe(
    Layer.provide(ShippingRuleCache.layer),
    Layer.provide(Layer.mergeAll(shippingRuleRepoLayer, shippingRateRepoLayer, shippingZoneRepoLayer))
  ),
  routes: shippingHttp
})
