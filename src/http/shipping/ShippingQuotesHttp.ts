import { Effect } from "effect"
import { HttpApi, HttpApiBuilder } from "effect/http-api"
import { ShippingQuotes } from "../../domain/checkout/ShippingQuotes.ts"
import { ShippingQuotesGroup } from "./ShippingQuotesApi.ts"

/** Handlers of the route that `ShippingQuotesApi.ts` declares. */
export const shippingQuotesHttp = HttpApiBuilder.group(
  HttpApi.make("stoa").add(ShippingQuotesGroup),
  "shippingQuotes",
  Effect.fnUntraced(function*(handlers) {
    const quotes = yield* ShippingQuotes
    return handlers.handleAll({ quote: ({ payload }) => quotes.quote(payload) })
  })
)
