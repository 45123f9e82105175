import { Layer } from "effect"
import { downloadRepoLayer } from "../../domain/fulfillment/DownloadRepo.ts"
import { Downloads } from "../../domain/fulfillment/Downloads.ts"
import { fulfillmentRepoLayer } from "../../domain/fulfillment/FulfillmentRepo.ts"
import { Fulfillments } from "../../domain/fulfillment/Fulfillments.ts"
import { migrations } from "../../domain/fulfillment/migrations.ts"
import { shipmentRepoLayer } from "../../domain/fulfillment/ShipmentRepo.ts"
import { Shipments } from "../../domain/fulfillment/Shipments.ts"
import { Tasks } from "../../domain/jobs/Task.ts"
import { defineModule } from "../../domain/modules/Module.ts"
import { downloadsHttp, fulfillmentsHttp } from "../../http/fulfillment/FulfillmentsHttp.ts"
import { deliverDigital } from "../../workflows/fulfillment/DeliverDigital.ts"

/** Handing goods over, what has been handed over, and bought files; other routes are among those of orders and of `/me`. Needs the services of orders. */
export const fulfillment = defineModule({
  id: "fulfillment",
  requires: ["jobs", "orders"],
  migrations,
  services: Layer.merge(Tasks.add(deliverDigital), Shipments.layer).pipe(
    Layer.provideMerge(Fulfillments.layer),
    Layer.provideMerge(Downloads.layer),
    Layer.provideMerge(Layer.mergeAll(fulfillmentRepoLayer, downloadRepoLayer, shipmentRepoLayer))
  ),
  routes: Layer.merge(
    downloadsHttp,
    fulfillmentsHttp
  )
})
