import { Effect } from "effect"
import { HttpApi, HttpApiBuilder } from "effect/http-api"
import { pageOf } from "../../domain/paging/Paging.ts"
import { TaxRates } from "../../domain/tax/TaxRates.ts"
import { deleted } from "../envelope/Envelope.ts"
import { TaxRatesGroup } from "./TaxRatesApi.ts"

/** Handlers of the routes that `TaxRatesApi.ts` declares. */
export const taxRatesHttp = HttpApiBuilder.group(
  HttpApi.make("stoa").add(TaxRatesGroup),
  "taxRates",
  Effect.fnUntraced(function*(handlers) {
    const rates = yield* TaxRates
    return handlers.handleAll({
      list: ({ query }) => rates.list(pageOf(query)),
      create: ({ payload }) => rates.create(payload),
      read: ({ params }) => rates.get(params.id),
      change: ({ params, payload }) => rates.change(params.id, payload),
      remove: ({ params }) => Effect.as(rates.remove(params.id), deleted)
    })
  })
)
