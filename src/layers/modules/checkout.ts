import { Layer } from "effect"
import { claimRepoLayer } from "../../domain/checkout/ClaimRepo.ts"
import { Decisions } from "../../domain/checkout/Decisions.ts"
import { placeRepoLayer } from "../../domain/checkout/PlaceRepo.ts"
import { defineModule } from "../../domain/modules/Module.ts"
import { checkoutHttp } from "../../http/checkout/CheckoutHttp.ts"
import { checkoutLayer } from "../../workflows/checkout/Checkout.ts"
import { Checkouts } from "../../workflows/checkout/Checkouts.ts"
import { voidPaymentLayer } from "../../workflows/payments/VoidPayment.ts"

/** From a cart to a placed and paid order (contract §3). It has no tables of its own. */
export const checkout = defineModule({
  id: "checkout",
  version: "1.0.0",
  requires: ["carts", "pricing", "promotions", "inventory", "orders", "payments"],
  permissions: [{ scope: "orders:create", description: "Check carts out" }],
  migrations: {},
  services: Layer.mergeAll(Checkouts.layer, Decisions.layer, claimRepoLayer, placeRepoLayer),
  actors: Layer.merge(checkoutLayer, voidPaymentLayer),
  routes: checkoutHttp
})
