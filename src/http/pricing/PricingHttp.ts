import { Effect } from "effect"
import { HttpApi, HttpApiBuilder } from "effect/http-api"
import { pageOf } from "../../domain/platform/paging/Paging.ts"
import { PriceModifiers } from "../../domain/pricing/PriceModifiers.ts"
import { Prices } from "../../domain/pricing/Prices.ts"
import { deleted } from "../envelope/Envelope.ts"
import { PricingGroup, toPriceListBody } from "./PricingApi.ts"

export const pricingHttp = HttpApiBuilder.group(
  HttpApi.make("stoa").add(PricingGroup),
  "pricing",
  Effect.fnUntraced(function*(handlers) {
    const prices = yield* Prices
    const modifiers = yield* PriceModifiers
    return handlers.handleAll({
      setPrice: ({ payload }) => prices.set(payload),
      listPrices: ({ query }) => Effect.map(prices.list(query, pageOf(query)), toPriceListBody),
      createModifier: ({ payload }) => modifiers.create(payload),
      listModifiers: ({ query: { active, ...query } }) =>
        modifiers.list(active === undefined ? query : { ...query, active: active === "true" }, pageOf(query)),
      changeModifier: ({ params, payload }) => modifiers.change(params.id, payload),
      deleteModifier: ({ params }) => Effect.as(modifiers.remove(params.id), deleted)
    })
  })
)
