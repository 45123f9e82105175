import { Effect } from "effect"
import { HttpApi, HttpApiBuilder } from "effect/http-api"
import { Variants } from "../../domain/catalog/variants/Variants.ts"
import { VariantsGroup } from "./VariantsApi.ts"

/** Handlers of the routes that `VariantsApi.ts` declares. */
export const variantsHttp = HttpApiBuilder.group(
  HttpApi.make("stoa").add(VariantsGroup),
  "variants",
  Effect.fnUntraced(function*(handlers) {
    const variants = yield* Variants
    return handlers.handleAll({
      createOptionType: ({ params, payload }) => variants.createOptionType(params.id, payload),
      createOptionValue: ({ params, payload }) => variants.createOptionValue(params.optionTypeId, payload.value),
      create: ({ params, payload }) => variants.create(params.id, payload),
      generate: ({ params, payload }) => variants.generate(params.id, payload ?? { mode: "all" })
    })
  })
)
