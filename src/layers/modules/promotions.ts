import { Layer } from "effect"
import { defineModule } from "../../domain/platform/modules/Module.ts"
import { migrations } from "../../domain/promotions/migrations.ts"
import { promotionRepoLayer } from "../../domain/promotions/PromotionRepo.ts"
import { Promotions } from "../../domain/promotions/Promotions.ts"
import { PromotionTrials } from "../../domain/promotions/PromotionTrials.ts"
import { promotionsHttp } from "../../http/promotions/PromotionsHttp.ts"
import { catalog } from "./catalog.ts"
import { customers } from "./customers.ts"
import { orders } from "./orders.ts"
import { pricing } from "./pricing.ts"
import { tenancy } from "./tenancy.ts"

export const promotions = defineModule({
  id: "promotions",
  requires: [tenancy, catalog, pricing, customers, orders],
  permissions: [
    { scope: "promotions:read", description: "Read promotions" },
    { scope: "promotions:create", description: "Create promotions" },
    { scope: "promotions:update", description: "Read, change and deactivate promotions" },
    { scope: "promotions:manage", description: "All of promotions" }
  ],
  migrations,
  services: Layer.mergeAll(Promotions.layer, PromotionTrials.layer).pipe(Layer.provideMerge(promotionRepoLayer)),
  routes: promotionsHttp
})
