import { Layer } from "effect"
import { orderEditRepoLayer } from "../../domain/checkout/OrderEditRepo.ts"
import { OrderEdits } from "../../domain/checkout/OrderEdits.ts"
import { SoldOrderRepo } from "../../domain/checkout/SoldOrderRepo.ts"
import { OrderRecords } from "../../domain/orders/OrderRecords.ts"
import { OrderRecordsRepo } from "../../domain/orders/OrderRecordsRepo.ts"
import { defineModule } from "../../domain/platform/modules/Module.ts"
import { Tasks } from "../../domain/platform/tasks/Task.ts"
import { adminOrdersHttp, orderRecordsHttp } from "../../http/orders/OrdersHttp.ts"
import { ManualOrders } from "../../workflows/orders/ManualOrders.ts"
import { SoldOrders } from "../../workflows/orders/SoldOrders.ts"
import { staleCleanup } from "../../workflows/payments/UnpaidOrders.ts"
import { checkout } from "./checkout.ts"
import { customers } from "./customers.ts"
import { fulfillment } from "./fulfillment.ts"
import { inventory } from "./inventory.ts"
import { jobs } from "./jobs.ts"
import { orders } from "./orders.ts"
import { payments } from "./payments.ts"

export const adminOrders = defineModule({
  id: "admin-orders",
  requires: [jobs, inventory, customers, orders, fulfillment, payments, checkout],
  permissions: [
    { scope: "orders:create", description: "Write orders" },
    { scope: "orders:manage", description: "Quote; set prices and discounts of orders" },
    { scope: "orders:read", description: "Look orders up, read their timeline and notes" },
    { scope: "orders:update", description: "Change the lines of unpaid orders; write notes" }
  ],
  services: Layer.mergeAll(ManualOrders.layer, SoldOrders.layer, OrderEdits.layer, Tasks.add(staleCleanup)).pipe(
    Layer.provideMerge(OrderRecords.layer),
    Layer.provideMerge(Layer.mergeAll(orderEditRepoLayer, OrderRecordsRepo.layer, SoldOrderRepo.layer))
  ),
  routes: Layer.merge(
    adminOrdersHttp,
    orderRecordsHttp
  )
})
