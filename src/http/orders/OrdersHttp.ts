import { Effect } from "effect"
import { HttpApi, HttpApiBuilder } from "effect/http-api"
import { Fulfillments } from "../../domain/fulfillment/Fulfillments.ts"
import { Orders } from "../../domain/orders/Orders.ts"
import { pageOf } from "../../domain/paging/Paging.ts"
import { StatusChanges } from "../../workflows/payments/StatusChanges.ts"
import { OrdersGroup } from "./OrdersApi.ts"

/** Handlers of the routes that `OrdersApi.ts` declares. */
export const ordersHttp = HttpApiBuilder.group(
  HttpApi.make("stoa").add(OrdersGroup),
  "orders",
  Effect.fnUntraced(function*(handlers) {
    const orders = yield* Orders
    const fulfillments = yield* Fulfillments
    const changes = yield* StatusChanges
    return handlers.handleAll({
      list: ({ query }) => orders.list({ status: query.status }, pageOf(query)),
      read: ({ params }) => orders.get(params.idOrNumber),
      changeStatus: ({ params, payload }) => changes.change(params.id, payload),
      fulfillments: ({ params, query }) => fulfillments.ofOrder(params.id, pageOf(query))
    })
  })
)
