import { Effect } from "effect"
import { HttpApi, HttpApiBuilder } from "effect/http-api"
import { pageOf } from "../../domain/platform/paging/Paging.ts"
import { Promotions } from "../../domain/promotions/Promotions.ts"
import { PromotionTrials } from "../../domain/promotions/PromotionTrials.ts"
import { PromotionsGroup } from "./PromotionsApi.ts"

export const promotionsHttp = HttpApiBuilder.group(
  HttpApi.make("stoa").add(PromotionsGroup),
  "promotions",
  Effect.fnUntraced(function*(handlers) {
    const promotions = yield* Promotions
    const trials = yield* PromotionTrials
    return handlers.handleAll({
      create: ({ payload }) => promotions.create(payload),
      list: ({ query }) => promotions.list(query.status ?? "active", pageOf(query)),
      change: ({ params, payload }) => promotions.change(params.id, payload),
      validate: ({ payload }) => trials.validate(payload),
      deactivate: ({ params }) => promotions.deactivate(params.id)
    })
  })
)
