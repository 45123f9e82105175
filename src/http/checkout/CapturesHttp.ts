import { Effect } from "effect"
import { HttpApi, HttpApiBuilder } from "effect/http-api"
import { Captures } from "../../workflows/checkout/Captures.ts"
import { CapturesGroup } from "./CapturesApi.ts"

/** Handlers of the routes that `CapturesApi.ts` declares. */
export const capturesHttp = HttpApiBuilder.group(
  HttpApi.make("stoa").add(CapturesGroup),
  "captures",
  Effect.fnUntraced(function*(handlers) {
    const captures = yield* Captures
    return handlers.handleAll({
      capture: ({ params, payload }) => captures.capture(params.id, payload?.amount)
    })
  })
)
