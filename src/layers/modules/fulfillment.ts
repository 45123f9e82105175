import { Layer } from "effect"
import { downloadRepoLayer } from "../../domain/fulfillment/DownloadRepo.ts"
import { Downloads } from "../../domain/fulfillment/Downloads.ts"
import { fulfillmentRepoLayer } from "../../domain/fulfillment/FulfillmentRepo.ts"
import { Fulfillments } from "../../domain/fulfillment/Fulfillments.ts"
import { migrations } from "../../domain/fulfillment/migrations.ts"
import { defineModule } from "../../domain/modules/Module.ts"
import { downloadsHttp } from "../../http/fulfillment/DownloadsHttp.ts"
import { AccessControl } from "../../http/middleware/Access.ts"
import { Errors } from "../../http/middleware/Errors.ts"
import { seeing } from "../Sight.ts"

/** What of an order has been handed over, and bought files; other routes are among those of orders and of `/me`. Needs the services of orders. */
export const fulfillment = defineModule({
  id: "fulfillment",
  version: "1.0.0",
  requires: ["orders"],
  permissions: [],
  migrations,
  services: Fulfillments.layer.pipe(
    Layer.provideMerge(Downloads.layer),
    Layer.provideMerge(Layer.merge(fulfillmentRepoLayer, downloadRepoLayer))
  ),
  routes: downloadsHttp.pipe(seeing(Downloads, AccessControl, Errors))
})
