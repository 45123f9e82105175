import { Effect } from "effect"
import { HttpApi, HttpApiBuilder } from "effect/http-api"
import { Quotes } from "../../domain/checkout/Quotes.ts"
import { pageOf } from "../../domain/platform/paging/Paging.ts"
import { ShippingRates } from "../../domain/shipping/ShippingRate.ts"
import { ShippingZones } from "../../domain/shipping/ShippingZone.ts"
import { deleted } from "../envelope/Envelope.ts"
import { ShippingGroup, ShippingQuotesGroup } from "./ShippingApi.ts"

export const shippingHttp = HttpApiBuilder.group(
  HttpApi.make("stoa").add(ShippingGroup),
  "shipping",
  Effect.fnUntraced(function*(handlers) {
    const zones = yield* ShippingZones
    const rates = yield* ShippingRates
    return handlers.handleAll({
      listZones: ({ query }) => zones.list(pageOf(query)),
      createZone: ({ payload }) => zones.create(payload),
      readZone: ({ params }) => zones.get(params.id),
      changeZone: ({ params, payload }) => zones.change(params.id, payload),
      deleteZone: ({ params }) => Effect.as(zones.remove(params.id), deleted),
      listRates: ({ query }) => rates.list(query, pageOf(query)),
      createRate: ({ payload }) => rates.create(payload),
      readRate: ({ params }) => rates.get(params.id),
      changeRate: ({ params, payload }) => rates.change(params.id, payload),
      deleteRate: ({ params }) => Effect.as(rates.remove(params.id), deleted)
    })
  })
)

export const shippingQuotesHttp = HttpApiBuilder.group(
  HttpApi.make("stoa").add(ShippingQuotesGroup),
  "shippingQuotes",
  Effect.fnUntraced(function*(handlers) {
    const quotes = yield* Quotes
    return handlers.handleAll({ quote: ({ payload }) => quotes.shippingRates(payload) })
  })
)
