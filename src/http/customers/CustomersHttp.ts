import { Effect } from "effect"
import { HttpApi, HttpApiBuilder } from "effect/http-api"
import { Customers } from "../../domain/customers/Customers.ts"
import { pageOf } from "../../domain/paging/Paging.ts"
import { CustomersGroup } from "./CustomersApi.ts"

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
