import { Layer } from "effect"
import { undoCreateOrderRepoLayer } from "../../domain/checkout/CreateOrderRepo.ts"
import { OrderRecordRepo } from "../../domain/customers/OrderRecordRepo.ts"
import { handoverLayer } from "../../domain/fulfillment/HandoverRepo.ts"
import { defineModule } from "../../domain/modules/Module.ts"
import { analyticsModels } from "../../domain/orders/analytics.ts"
import { CustomerOrders } from "../../domain/orders/CustomerOrders.ts"
import { migrations } from "../../domain/orders/migrations.ts"
import { orderNumberRepoLayer } from "../../domain/orders/OrderNumberRepo.ts"
import { OrderNumbers } from "../../domain/orders/OrderNumbers.ts"
import { orderRepoLayer } from "../../domain/orders/OrderRepo.ts"
import { Orders } from "../../domain/orders/Orders.ts"
import { orderStatusRepoLayer } from "../../domain/orders/OrderStatusRepo.ts"
import { unpaidOrderRepoLayer } from "../../domain/orders/UnpaidOrderRepo.ts"
import { orderEntityLayer } from "../../entities/OrderEntity.ts"
import { ordersHttp } from "../../http/orders/OrdersHttp.ts"
import { Reorders } from "../../workflows/carts/Reorders.ts"
import { PersonalExport } from "../../workflows/customers/PersonalExport.ts"

/** Orders after checkout: reading them, and the one way their status changes. */
export const orders = defineModule({
  id: "orders",
  requires: ["customers", "inventory"],
  permissions: [
    { scope: "orders:create", description: "Place orders" },
    { scope: "orders:read", description: "Read all orders" },
    { scope: "orders:read:own", description: "Read one's own orders" },
    { scope: "orders:update", description: "Change the status of orders" }
  ],
  migrations,
  analyticsModels,
  services: Layer.mergeAll(Orders.layer, OrderNumbers.layer, PersonalExport.layer, Reorders.layer)
    .pipe(
      Layer.provideMerge(CustomerOrders.layer),
      Layer.provideMerge(
        Layer.mergeAll(
          orderRepoLayer,
          orderStatusRepoLayer,
          orderNumberRepoLayer,
          unpaidOrderRepoLayer,
          OrderRecordRepo.layer
        )
      ),
      Layer.provide(undoCreateOrderRepoLayer),
      Layer.provide(handoverLayer)
    ),
  actors: orderEntityLayer,
  routes: ordersHttp
})
