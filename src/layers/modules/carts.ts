import { Layer } from "effect"
import { CartRepo } from "../../domain/carts/CartRepo.ts"
import { Carts } from "../../domain/carts/Carts.ts"
import { migrations } from "../../domain/carts/migrations.ts"
import { defineModule } from "../../domain/platform/modules/Module.ts"
import { cartActorLayer, cartEntityLayer } from "../../entities/CartEntity.ts"
import { catalog } from "./catalog.ts"
import { customers } from "./customers.ts"
import { pricing } from "./pricing.ts"

/** Carts and their entities (contract §2). */
export const carts = defineModule({
  id: "carts",
  requires: [catalog, pricing, customers],
  permissions: [
    { scope: "cart:create", description: "Open carts" },
    { scope: "cart:read", description: "Read carts" },
    { scope: "cart:update", description: "Change carts" }
  ],
  migrations,
  services: Carts.layer.pipe(Layer.provideMerge(cartActorLayer), Layer.provideMerge(CartRepo.layer)),
  actors: cartEntityLayer,
  routes: Layer.empty
})
