import { Layer } from "effect"
import { defineModule } from "../../domain/platform/modules/Module.ts"
import { analyticsModels } from "../../domain/returns/analytics.ts"
import { migrations } from "../../domain/returns/migrations.ts"
import { ReturnRepo } from "../../domain/returns/ReturnRepo.ts"
import { Returns } from "../../domain/returns/Returns.ts"
import { myReturnsHttp, returnsHttp } from "../../http/returns/ReturnsHttp.ts"
import { ReturnExchanges } from "../../workflows/orders/ReturnExchanges.ts"
import { ReturnRefunds } from "../../workflows/orders/ReturnRefunds.ts"
import { adminOrders } from "./admin-orders.ts"
import { checkout } from "./checkout.ts"
import { inventory } from "./inventory.ts"
import { orders } from "./orders.ts"
import { payments } from "./payments.ts"

/** Goods that come back (docs/orders.md). Needs the services of orders and payments. */
export const returns = defineModule({
  id: "returns",
  requires: [inventory, orders, payments, checkout, adminOrders],
  permissions: [{
    scope: "returns:manage",
    description: "Read and decide returns, receive, refund and exchange their goods"
  }],
  migrations,
  analyticsModels,
  services: Layer.provideMerge(
    Layer.mergeAll(Returns.layer, ReturnRefunds.layer, ReturnExchanges.layer),
    ReturnRepo.layer
  ),
  routes: Layer.merge(returnsHttp, myReturnsHttp)
})
