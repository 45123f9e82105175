import { Layer } from "effect"
import { Downloads } from "../../domain/fulfillment/Downloads.ts"
import { FulfillmentRepo } from "../../domain/fulfillment/FulfillmentRepo.ts"
import { deliverDigital, Fulfillments } from "../../domain/fulfillment/Fulfillments.ts"
import { migrations } from "../../domain/fulfillment/migrations.ts"
import { ShipmentRepo } from "../../domain/fulfillment/ShipmentRepo.ts"
import { Shipments } from "../../domain/fulfillment/Shipments.ts"
import { defineModule } from "../../domain/platform/modules/Module.ts"
import { Tasks } from "../../domain/platform/tasks/Task.ts"
import { downloadsHttp, fulfillmentsHttp } from "../../http/orders/OrdersHttp.ts"
import { jobs } from "./jobs.ts"
import { orders } from "./orders.ts"

/** Shipments and bought files; other routes are among those of orders and `/me`. Needs the services of orders. */
export const fulfillment = defineModule({
  id: "fulfillment",
  requires: [jobs, orders],
  migrations,
  services: Layer.merge(Tasks.add(deliverDigital), Shipments.layer).pipe(
    Layer.provideMerge(Fulfillments.layer),
    Layer.provideMerge(Downloads.layer),
    Layer.provideMerge(Layer.merge(FulfillmentRepo.layer, ShipmentRepo.layer))
  ),
  routes: Layer.merge(downloadsHttp, fulfillmentsHttp)
})
