import { Effect } from "effect"
import { HttpApi, HttpApiBuilder } from "effect/http-api"
import { pageOf } from "../../domain/paging/Paging.ts"
import { TaxClasses } from "../../domain/tax/TaxClasses.ts"
import { deleted } from "../envelope/Envelope.ts"
import { TaxClassesGroup } from "./TaxClassesApi.ts"

/** Handlers of the routes that `TaxClassesApi.ts` declares. */
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
