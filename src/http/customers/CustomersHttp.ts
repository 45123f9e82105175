import { Effect } from "effect"
import { HttpApi, HttpApiBuilder } from "effect/http-api"
import { CustomerGroups } from "../../domain/customers/CustomerGroups.ts"
import { Addresses, Interactions } from "../../domain/customers/CustomerRecords.ts"
import { Customers } from "../../domain/customers/Customers.ts"
import { Downloads } from "../../domain/fulfillment/Downloads.ts"
import { Fulfillments } from "../../domain/fulfillment/Fulfillments.ts"
import { CustomerOrders } from "../../domain/orders/CustomerOrders.ts"
import { pageOf } from "../../domain/platform/paging/Paging.ts"
import { Reorders } from "../../workflows/carts/Reorders.ts"
import { OrderPayments } from "../../workflows/checkout/OrderPayments.ts"
import { PrivacyRequests } from "../../workflows/customers/PrivacyRequests.ts"
import { deleted } from "../envelope/Envelope.ts"
import { CustomerGroupsGroup, CustomerRecordsGroup, CustomersGroup, MeGroup, MyOrdersGroup } from "./CustomersApi.ts"

export const customersHttp = HttpApiBuilder.group(
  HttpApi.make("stoa").add(CustomersGroup),
  "customers",
  Effect.fnUntraced(function*(handlers) {
    const customers = yield* Customers
    return handlers.handleAll({
      list: ({ query }) => customers.list(pageOf(query)),
      create: ({ payload }) => customers.create(payload),
      read: ({ params }) => customers.get(params.id),
      change: ({ params, payload, query }) =>
        customers.change(params.id, payload, query.metadataReplace === "true" ? "replace" : "merge")
    })
  })
)

export const customerGroupsHttp = HttpApiBuilder.group(
  HttpApi.make("stoa").add(CustomerGroupsGroup),
  "customerGroups",
  Effect.fnUntraced(function*(handlers) {
    const groups = yield* CustomerGroups
    return handlers.handleAll({
      list: ({ query }) => groups.list(pageOf(query)),
      create: ({ payload }) => groups.create(payload),
      read: ({ params }) => groups.get(params.groupId),
      change: ({ params, payload }) => groups.change(params.groupId, payload),
      remove: ({ params }) => Effect.as(groups.remove(params.groupId), deleted),
      members: ({ params, query }) => groups.members(params.groupId, pageOf(query)),
      join: ({ params }) => Effect.as(groups.setMember(params.groupId, params.customerId, true), { member: true }),
      leave: ({ params }) => Effect.as(groups.setMember(params.groupId, params.customerId, false), { member: false })
    })
  })
)

const asksTotals = (include: string | undefined) =>
  include?.split(",").some((name) => name.trim() === "totals") === true

export const customerRecordsHttp = HttpApiBuilder.group(
  HttpApi.make("stoa").add(CustomerRecordsGroup),
  "customerRecords",
  Effect.fnUntraced(function*(handlers) {
    const addresses = yield* Addresses
    const interactions = yield* Interactions
    const orders = yield* CustomerOrders
    return handlers.handleAll({
      addresses: ({ params, query }) => addresses.of(params.id, pageOf(query)),
      orders: Effect.fnUntraced(function*({ params, query }) {
        const page = yield* orders.of(params.id, query.status, pageOf(query))
        return asksTotals(query.include) ? { ...page, totals: yield* orders.totalsOf(params.id) } : page
      }),
      interactions: ({ params, query }) => interactions.list(params.id, pageOf(query)),
      addInteraction: ({ params, payload }) => interactions.create(params.id, payload),
      changeInteraction: ({ params, payload }) => interactions.change(params.id, params.interactionId, payload),
      removeInteraction: ({ params }) => Effect.as(interactions.remove(params.id, params.interactionId), deleted)
    })
  })
)

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
    const payments = yield* OrderPayments
    return handlers.handleAll({
      list: ({ query }) => orders.listOwn(query.status, pageOf(query)),
      read: ({ params }) => Effect.flatMap(orders.getOwn(params.idOrNumber), payments.shownToHolder),
      tracking: ({ params, query }) => fulfillments.trackingOfOwn(params.idOrNumber, pageOf(query)),
      downloads: ({ params, query }) => downloads.ofOwn(params.orderId, pageOf(query)),
      reorder: ({ params }) => reorders.reorder(params.orderId)
    })
  })
)
