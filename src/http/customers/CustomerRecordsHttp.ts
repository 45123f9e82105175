import { Effect } from "effect"
import { HttpApi, HttpApiBuilder } from "effect/http-api"
import { Addresses } from "../../domain/customers/Addresses.ts"
import { Interactions } from "../../domain/customers/Interactions.ts"
import { CustomerOrders } from "../../domain/orders/CustomerOrders.ts"
import { pageOf } from "../../domain/paging/Paging.ts"
import { deleted } from "../envelope/Envelope.ts"
import { CustomerRecordsGroup } from "./CustomerRecordsApi.ts"

const asksTotals = (include: string | undefined) =>
  include?.split(",").some((name) => name.trim() === "totals") === true

/** Handlers of the routes that `CustomerRecordsApi.ts` declares. */
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
