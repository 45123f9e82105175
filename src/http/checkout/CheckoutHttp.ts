import { Effect } from "effect"
import { HttpApi, HttpApiBuilder } from "effect/http-api"
import type { CheckoutRequest } from "../../domain/checkout/Checkout.ts"
import { type Actor, CurrentActor } from "../../domain/platform/access/Actor.ts"
import { Captures } from "../../workflows/checkout/Captures.ts"
import { Checkouts } from "../../workflows/checkout/Checkouts.ts"
import type { CheckoutResult } from "../../workflows/checkout/CheckoutWorkflow.ts"
import { OrderPayments, withAction } from "../../workflows/checkout/OrderPayments.ts"
import { fingerprint, keyScope, sentKey, type Shown } from "../middleware/IdempotentExecution.ts"
import { RateLimiting } from "../server/RateLimiting.ts"
import { CurrentRequest } from "../server/RequestId.ts"
import { CapturesGroup, CheckoutGroup, OrderPaymentsGroup } from "./CheckoutApi.ts"

/** From the header, else the body (contract §3.1). */
export const checkoutKey = Effect.fnUntraced(function*(shown: Shown, payload: CheckoutRequest, actor: Actor) {
  const key = (yield* sentKey(shown)) ?? payload.idempotencyKey
  return key === undefined ? null : { key, scope: keyScope(actor, shown) }
})

export const answerOf = ({ clientSecret, hookErrors, order, redirectUrl, rejectedCodes }: CheckoutResult) => {
  const meta = {
    ...(hookErrors.length > 0 ? { hookErrors } : {}),
    ...(rejectedCodes.length > 0 ? { rejectedPromotionCodes: rejectedCodes } : {})
  }
  return {
    data: {
      ...withAction(order, { clientSecret, redirectUrl }),
      ...(clientSecret === null ? {} : { paymentClientSecret: clientSecret })
    },
    ...(Object.keys(meta).length > 0 ? { meta } : {})
  }
}

export const checkoutHttp = HttpApiBuilder.group(
  HttpApi.make("stoa").add(CheckoutGroup),
  "checkout",
  Effect.fnUntraced(function*(handlers) {
    const checkouts = yield* Checkouts
    return handlers.handleAll({
      checkout: Effect.fnUntraced(function*({ payload, request }) {
        const hash = fingerprint("POST", "/api/checkout", JSON.stringify(payload))
        return answerOf(
          yield* checkouts.start(payload, hash, yield* checkoutKey(request, payload, yield* CurrentActor))
        )
      })
    })
  })
)

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

export const orderPaymentsHttp = HttpApiBuilder.group(
  HttpApi.make("stoa").add(OrderPaymentsGroup),
  "orderPayments",
  Effect.fnUntraced(function*(handlers) {
    const payments = yield* OrderPayments
    const limiting = yield* RateLimiting
    return handlers.handleAll({
      pay: Effect.fnUntraced(function*({ params: { id }, payload }) {
        const facts = (yield* CurrentRequest) ?? {}
        return yield* payments.pay(id, payload, limiting.payment(facts, id))
      }),
      cancel: ({ params }) => payments.cancel(params.id)
    })
  })
)
