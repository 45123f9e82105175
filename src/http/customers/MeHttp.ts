import { Effect } from "effect"
import { HttpApi, HttpApiBuilder } from "effect/http-api"
import { Addresses } from "../../domain/customers/Addresses.ts"
import { Customers } from "../../domain/customers/Customers.ts"
import { Downloads } from "../../domain/fulfillment/Downloads.ts"
import { Fulfillments } from "../../domain/fulfillment/Fulfillments.ts"
import { CustomerOrders } from "../../domain/orders/CustomerOrders.ts"
import { pageOf } from "../../domain/paging/Paging.ts"
import { Reorders } from "../../workflows/carts/Reorders.ts"
import { PrivacyRequests } from "../../workflows/customers/PrivacyRequests.ts"
import { deleted } from "../envelope/Envelope.ts"
import { MeGroup, MyOrdersGroup } from "./MeApi.ts"

/** Handlers of the routes that `MeApi.ts` declares. */
export const meHttp = HttpApiBuilder.group(
  HttpApi.make("stoa").add(MeGroup),
  "me",
  Effect.fnUntraced(function*(handlers) {
    const customers = yield* Customers
    const addresses = yield* Addresses
    const privacy = yield* PrivacyRequests
    return handlers.handleAll({
      profile: () => customers.ownProfile,
      changeProfile: ({ payload }) => customers.changeOwn(payload),
      addresses: ({ query }) => addresses.own(pageOf(query)),
      addAddress: ({ payload }) => addresses.add(payload),
      removeAddress: ({ params }) => Effect.as(addresses.remove(params.id), deleted),
      exportAll: () => privacy.exportOwn,
      erase: () => Effect.as(privacy.eraseOwn, deleted)
    })
  })
)

export const myOrdersHttp = HttpApiBuilder.group(
  HttpApi.make("stoa").add(MyOrdersGroup),
  "myOrders",
  Effect.fnUntraced(function*(handlers) {
    const orders = yield* CustomerOrders
    const fulfillments = yield* Fulfillments
    const downloads = yield* Downloads
    const reorders = yield* Reorders
    return handlers.handleAll({
      list: ({ query }) => orders.listOwn(query.status, pageOf(query)),
      read: ({ params }) => orders.getOwn(params.idOrNumber),
      tracking: ({ params, query }) => fulfillments.trackingOfOwn(params.idOrNumber, pageOf(query)),
      downloads: ({ params, query }) => downloads.ofOwn(params.orderId, pageOf(query)),
      reorder: ({ params }) => reorders.reorder(params.orderId)
    })
  })
)
