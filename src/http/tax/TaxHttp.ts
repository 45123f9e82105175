import { Effect } from "effect"
import { HttpApi, HttpApiBuilder } from "effect/http-api"
import { pageOf } from "../../domain/platform/paging/Paging.ts"
import { TaxClasses } from "../../domain/tax/TaxClass.ts"
import { TaxRates } from "../../domain/tax/TaxRate.ts"
import { deleted } from "../envelope/Envelope.ts"
import { TaxClassesGroup, TaxRatesGroup } from "./TaxApi.ts"

export const taxClassesHttp = HttpApiBuilder.group(
  HttpApi.make("stoa").add(TaxClassesGroup),
  "taxClasses",
  Effect.fnUntraced(function*(handlers) {
    const classes = yield* TaxClasses
    return handlers.handleAll({
      list: ({ query }) => classes.list(pageOf(query)),
      create: ({ payload }) => classes.create(payload),
      read: ({ params }) => classes.get(params.id),
      change: ({ params, payload }) => classes.change(params.id, payload),
      remove: ({ params }) => Effect.as(classes.remove(params.id), deleted)
    })
  })
)

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
