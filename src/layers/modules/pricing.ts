import { Layer } from "effect"
import { defineModule } from "../../domain/platform/modules/Module.ts"
import { migrations } from "../../domain/pricing/migrations.ts"
import { priceModifierRepoLayer } from "../../domain/pricing/PriceModifierRepo.ts"
import { PriceModifiers } from "../../domain/pricing/PriceModifiers.ts"
import { priceRepoLayer } from "../../domain/pricing/PriceRepo.ts"
import { Prices } from "../../domain/pricing/Prices.ts"
import { priceCandidateRepoLayer } from "../../domain/pricing/PriceStatements.ts"
import { pricingHttp } from "../../http/pricing/PricingHttp.ts"
import { catalog } from "./catalog.ts"
import { tenancy } from "./tenancy.ts"

export const pricing = defineModule({
  id: "pricing",
  requires: [tenancy, catalog],
  permissions: [
    { scope: "pricing:read", description: "Read prices and modifiers" },
    { scope: "pricing:create", description: "Set prices and create modifiers" },
    { scope: "pricing:update", description: "Read prices, change and delete modifiers" },
    { scope: "pricing:manage", description: "All of pricing" }
  ],
  migrations,
  services: Layer.mergeAll(Prices.layer, PriceModifiers.layer).pipe(
    Layer.provide(Layer.mergeAll(priceRepoLayer, priceCandidateRepoLayer, priceModifierRepoLayer))
  ),
  routes: pricingHttp
})
