import { Effect } from "effect"
import { HttpApi, HttpApiBuilder } from "effect/http-api"
import { Addresses } from "../../domain/customers/Addresses.ts"
import { Customers } from "../../domain/customers/Customers.ts"
import { Erasure } from "../../domain/customers/Erasure.ts"
import { Downloads } from "../../domain/fulfillment/Downloads.ts"
import { Fulfillments } from "../../domain/fulfillment/Fulfillments.ts"
import { CustomerOrders } from "../../domain/orders/CustomerOrders.ts"
import { pageOf } from "../../domain/paging/Paging.ts"
import { Reorders } from "../../workflows/carts/Reorders.ts"
import { PersonalExport } from "../../workflows/customers/PersonalExport.ts"
import { deleted } from "../envelope/Envelope.ts"
import { MeGroup, MyOrdersGroup } from "./MeApi.ts"

/** Handlers of the routes that `MeApi.ts` declares. */
export const meHttp = HttpApiBuilder.group(
  HttpApi.make("stoa").add(MeGroup),
  "me",
  Effect.fnUntraced(function*(handlers) {
    const customers = yield* Customers
    const addresses = yield* Addresses
    const erasure = yield* Erasure
    const personal = yield* PersonalExport
    return handlers.handleAll({
      profile: () => customers.ownProfile,
      changeProfile: ({ payload }) => customers.changeOwn(payload),
      addresses: ({ query }) => addresses.own(pageOf(query)),
      addAddress: ({ payload }) => addresses.add(payload),
      removeAddress: ({ params }) => Effect.as(addresses.remove(params.id), deleted),
      exportAll: () => personal.all,
      erase: () => Effect.as(erasure.eraseOwn, deleted)
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
