import { Layer } from "effect"
import { defineModule } from "../../domain/modules/Module.ts"
import { migrations } from "../../domain/shipping/migrations.ts"
import { ShippingPrices } from "../../domain/shipping/ShippingPrices.ts"
import { shippingRatesLayer } from "../../domain/shipping/ShippingRateRepo.ts"
import { ShippingRuleCache, shippingRuleRepoLayer } from "../../domain/shipping/ShippingRuleRepo.ts"
import { shippingZonesLayer } from "../../domain/shipping/ShippingZoneRepo.ts"
import { shippingHttp } from "../../http/shipping/ShippingHttp.ts"

/** Where a store ships to and what it costs (contract §3.4). Needs the settings of shipping. */
export const shipping = defineModule({
  id: "shipping",
  requires: ["tenancy", "events"],
  permissions: [{ scope: "shipping:manage", description: "Manage shipping zones and rates" }],
  migrations,
  services: Layer.mergeAll(ShippingPrices.layer, shippingZonesLayer, shippingRatesLayer).pipe(
    Layer.provide(ShippingRuleCache.layer),
    Layer.provide(shippingRuleRepoLayer)
  ),
  routes: shippingHttp
})
