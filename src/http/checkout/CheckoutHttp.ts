import { Effect } from "effect"
import type { HttpServerRequest } from "effect/http"
import { HttpApi, HttpApiBuilder } from "effect/http-api"
import { CurrentActor } from "../../domain/access/Actor.ts"
import type { CheckoutRequest } from "../../domain/checkout/Checkout.ts"
import { Checkouts } from "../../workflows/checkout/Checkouts.ts"
import type { CheckoutResult } from "../../workflows/checkout/CheckoutWorkflow.ts"
import { fingerprint, keyScope, sentKey } from "../middleware/Idempotency.ts"
import { CheckoutGroup } from "./CheckoutApi.ts"

/** The key may come in the header, which wins, or in the body (contract §3.1). */
const keyOf = Effect.fnUntraced(function*(request: HttpServerRequest.HttpServerRequest, payload: CheckoutRequest) {
  const key = (yield* sentKey(request)) ?? payload.idempotencyKey
  return key === undefined ? null : { key, scope: keyScope(yield* CurrentActor, request) }
})

const answerOf = ({ clientSecret, hookErrors, order, rejectedCodes }: CheckoutResult) => {
  const meta = {
    ...(hookErrors.length > 0 ? { hookErrors } : {}),
    ...(rejectedCodes.length > 0 ? { rejectedPromotionCodes: rejectedCodes } : {})
  }
  return {
    data: { ...order, ...(clientSecret === null ? {} : { paymentClientSecret: clientSecret }) },
    ...(Object.keys(meta).length > 0 ? { meta } : {})
  }
}

/** Handlers of the routes that `CheckoutApi.ts` declares. */
export const checkoutHttp = HttpApiBuilder.group(
  HttpApi.make("stoa").add(CheckoutGroup),
  "checkout",
  Effect.fnUntraced(function*(handlers) {
    const checkouts = yield* Checkouts
    return handlers.handleAll({
      checkout: Effect.fnUntraced(function*({ payload, request }) {
        const hash = fingerprint("POST", "/api/checkout", JSON.stringify(payload))
        const done = yield* checkouts.start(payload, hash, yield* keyOf(request, payload))
        return answerOf(done)
      })
    })
  })
)
