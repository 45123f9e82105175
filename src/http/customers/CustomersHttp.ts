import { Effect } from "effect"
import { HttpApi, HttpApiBuilder } from "effect/http-api"
import { Addresses } from "../../domain/customers/Addresses.ts"
import { CustomerGroups } from "../../domain/customers/CustomerGroups.ts"
import { Customers } from "../../domain/customers/Customers.ts"
import { Interactions } from "../../domain/customers/Interactions.ts"
import { CustomerOrders } from "../../domain/orders/CustomerOrders.ts"
import { pageOf } from "../../domain/paging/Paging.ts"
import { deleted } from "../envelope/Envelope.ts"
import { CustomerGroupsGroup, CustomerRecordsGroup, CustomersGroup } from "./CustomersApi.ts"

/** Handlers of the routes that `CustomersApi.ts` declares. */
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
