import { Layer } from "effect"
import { cartLineRepoLayer } from "../../domain/carts/CartLineRepo.ts"
import { cartRepoLayer } from "../../domain/carts/CartRepo.ts"
import { Carts } from "../../domain/carts/Carts.ts"
import { migrations } from "../../domain/carts/migrations.ts"
import { offerRepoLayer } from "../../domain/carts/OfferRepo.ts"
import { defineModule } from "../../domain/modules/Module.ts"
import { CartClient } from "../../entities/CartClient.ts"
import { cartEntityLayer } from "../../entities/CartEntity.ts"
import { cartsHttp } from "../../http/carts/CartsHttp.ts"

/** Carts and the actor that owns each of them (contract §2). */
export const carts = defineModule({
  id: "carts",
  requires: ["catalog", "pricing", "customers"],
  permissions: [
    { scope: "cart:create", description: "Open carts" },
    { scope: "cart:read", description: "Read carts" },
    { scope: "cart:update", description: "Change carts" }
  ],
  migrations,
  services: CartClient.layer.pipe(
    Layer.provideMerge(Carts.layer),
    Layer.provideMerge(Layer.mergeAll(cartRepoLayer, cartLineRepoLayer, offerRepoLayer))
  ),
  actors: cartEntityLayer,
  routes: cartsHttp
})
