import { Effect } from "effect"
import { HttpApi, HttpApiBuilder } from "effect/http-api"
import { Shipments } from "../../domain/fulfillment/Shipments.ts"
import { FulfillmentsGroup } from "./FulfillmentsApi.ts"

/** Handlers of the routes that `FulfillmentsApi.ts` declares. */
export const fulfillmentsHttp = HttpApiBuilder.group(
  HttpApi.make("stoa").add(FulfillmentsGroup),
  "fulfillments",
  Effect.fnUntraced(function*(handlers) {
    const shipments = yield* Shipments
    return handlers.handleAll({
      create: ({ params, payload }) => shipments.create(params.id, payload),
      change: ({ params, payload }) => shipments.change(params.id, params.fulfillmentId, payload)
    })
  })
)
