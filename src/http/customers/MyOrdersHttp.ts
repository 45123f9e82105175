import { Effect } from "effect"
import { HttpApi, HttpApiBuilder } from "effect/http-api"
import { Downloads } from "../../domain/fulfillment/Downloads.ts"
import { Fulfillments } from "../../domain/fulfillment/Fulfillments.ts"
import { OwnOrders } from "../../domain/orders/OwnOrders.ts"
import { pageOf } from "../../domain/paging/Paging.ts"
import { Reorders } from "../../workflows/carts/Reorders.ts"
import { MyOrdersGroup } from "./MyOrdersApi.ts"

/** Handlers of the routes that `MyOrdersApi.ts` declares. */
export const myOrdersHttp = HttpApiBuilder.group(
  HttpApi.make("stoa").add(MyOrdersGroup),
  "myOrders",
  Effect.fnUntraced(function*(handlers) {
    const orders = yield* OwnOrders
    const fulfillments = yield* Fulfillments
    const downloads = yield* Downloads
    const reorders = yield* Reorders
    return handlers.handleAll({
      list: ({ query }) => orders.list(query.status, pageOf(query)),
      read: ({ params }) => orders.get(params.idOrNumber),
      tracking: ({ params, query }) => fulfillments.trackingOfOwn(params.idOrNumber, pageOf(query)),
      downloads: ({ params, query }) => downloads.ofOwn(params.orderId, pageOf(query)),
      reorder: ({ params }) => reorders.reorder(params.orderId)
    })
  })
)
