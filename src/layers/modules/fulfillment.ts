import { Layer } from "effect"
import { fulfillmentRepoLayer } from "../../domain/fulfillment/FulfillmentRepo.ts"
import { Fulfillments } from "../../domain/fulfillment/Fulfillments.ts"
import { migrations } from "../../domain/fulfillment/migrations.ts"
import { defineModule } from "../../domain/modules/Module.ts"

/** What of an order has been handed over; its route is among those of orders. Needs the services of orders. */
export const fulfillment = defineModule({
  id: "fulfillment",
  version: "1.0.0",
  requires: ["orders"],
  permissions: [],
  migrations,
  services: Fulfillments.layer.pipe(Layer.provideMerge(fulfillmentRepoLayer)),
  routes: Layer.empty
})
