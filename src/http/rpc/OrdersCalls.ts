import { Effect } from "effect"
import { Fulfillments } from "../../domain/fulfillment/Fulfillments.ts"
import { Orders } from "../../domain/orders/Orders.ts"
import { StatusChanges } from "../../workflows/payments/StatusChanges.ts"
import { OrdersRpc } from "./OrdersRpc.ts"
import { askedPage } from "./RpcLists.ts"
import { allPages } from "./RpcPages.ts"

/** Answers to the calls that `OrdersRpc.ts` declares. */
export const ordersCalls = OrdersRpc.toLayer(Effect.gen(function*() {
  const orders = yield* Orders
  const fulfillments = yield* Fulfillments
  const changes = yield* StatusChanges
  return OrdersRpc.of({
    "orders.list": ({ status, ...page }) => orders.list({ status }, askedPage(page)),
    "orders.stream": ({ status }) => allPages((page) => orders.list({ status }, page)),
    "orders.read": ({ idOrNumber }) => orders.get(idOrNumber),
    "orders.changeStatus": ({ id, ...change }) => changes.change(id, change),
    "orders.fulfillments": ({ id, ...page }) => fulfillments.ofOrder(id, askedPage(page))
  })
}))
