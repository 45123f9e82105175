import { Layer } from "effect"
import { undoCreateOrderRepoLayer } from "../../domain/checkout/CreateOrderRepo.ts"
import { handoverLayer } from "../../domain/fulfillment/ShipmentRepo.ts"
import { analyticsModels } from "../../domain/orders/analytics.ts"
import { CustomerOrders } from "../../domain/orders/CustomerOrders.ts"
import { migrations } from "../../domain/orders/migrations.ts"
import { OrderNumbers } from "../../domain/orders/OrderNumbers.ts"
import { OrderRepo } from "../../domain/orders/OrderRepo.ts"
import { Orders } from "../../domain/orders/Orders.ts"
import { OrderStatusRepo } from "../../domain/orders/OrderStatusRepo.ts"
import { UnpaidOrderRepo } from "../../domain/orders/UnpaidOrderRepo.ts"
import { defineModule } from "../../domain/platform/modules/Module.ts"
import { PersonalDataRepo } from "../../domain/privacy/PersonalDataRepo.ts"
import { orderEntityLayer } from "../../entities/OrderEntity.ts"
import { ordersHttp } from "../../http/orders/OrdersHttp.ts"
import { Reorders } from "../../workflows/carts/Reorders.ts"
import { PrivacyRequests } from "../../workflows/customers/PrivacyRequests.ts"
import { carts } from "./carts.ts"
import { customers } from "./customers.ts"
import { inventory } from "./inventory.ts"

export const orders = defineModule({
  id: "orders",
  requires: [customers, inventory, carts],
  permissions: [
    { scope: "orders:create", description: "Place orders" },
    { scope: "orders:read", description: "Read all orders" },
    { scope: "orders:read:own", description: "Read one's own orders" },
    { scope: "orders:update", description: "Change the status of orders" }
  ],
  migrations,
  analyticsModels,
  services: Layer.mergeAll(Orders.layer, OrderNumbers.layer, PrivacyRequests.layer, Reorders.layer)
    .pipe(
      Layer.provideMerge(CustomerOrders.layer),
      Layer.provideMerge(
        Layer.mergeAll(
          OrderRepo.layer,
          OrderStatusRepo.layer,
          UnpaidOrderRepo.layer,
          PersonalDataRepo.layer
        )
      ),
      Layer.provide(undoCreateOrderRepoLayer),
      Layer.provide(handoverLayer)
    ),
  actors: orderEntityLayer,
  routes: ordersHttp
})
