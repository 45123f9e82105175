import { Effect, Option } from "effect"
import {
  type PaymentAdapter,
  PaymentDeclined,
  type PaymentIntent,
  PaymentUnknown
} from "../../domain/payments/PaymentAdapter.ts"
import type { StripeAccount } from "../config/PaymentConfig.ts"
import { authorizer } from "./StripeAuthorization.ts"
import { type StripeClient, stripeClient } from "./StripeClient.ts"
import { verifyStripeEvent } from "./StripeEvents.ts"
import { refusalOf, type StripeFailure } from "./StripeFailure.ts"
import { free, intentOf, isFree } from "./StripeIntents.ts"
import { toStripe } from "./StripeMoney.ts"

const unknown = (message: string) => Effect.fail(new PaymentUnknown({ message }))

/** Maximum number of payments whose currency is cached; a miss costs a call. */
const maxCached = 10_000

/** Amounts are sent in units of the currency, but later calls only name the payment. */
const currencyCache = (client: StripeClient) => {
  const known = new Map<string, string>()
  return {
    note: ({ currency, id }: PaymentIntent) => {
      const [oldest] = known.keys()
      if (known.size >= maxCached && oldest !== undefined) known.delete(oldest)
      known.set(id, currency)
    },
    currencyOf: (intentId: string): Effect.Effect<string, StripeFailure> => {
      const currency = known.get(intentId)
      return currency === undefined
        ? Effect.map(client.retrieve(intentId), (intent) => intent.currency)
        : Effect.succeed(currency)
    }
  }
}

type Currencies = ReturnType<typeof currencyCache>

/** Reads the payment after a refusal: an earlier try may have captured or cancelled it. */
const stateAfter = Effect.fnUntraced(function*(
  client: StripeClient,
  intentId: string,
  failure: StripeFailure,
  refused: ReturnType<typeof refusalOf>
) {
  if (failure.kind === "silent" || failure.kind === "busy") return yield* refused(failure)
  return yield* Effect.catch(client.retrieve(intentId), refused)
})

const capturer = (client: StripeClient, { currencyOf }: Currencies): PaymentAdapter["capture"] => {
  const refused = refusalOf("PAYMENT_CAPTURE_FAILED")
  return Effect.fn("StripeProvider.capture")(function*(intentId, amount, key) {
    if (isFree(intentId)) return free(intentId, "", "succeeded")
    const currency = yield* Effect.catch(currencyOf(intentId), refused)
    const units = toStripe(amount, currency)
    if (Option.isNone(units)) {
      return yield* new PaymentDeclined({ code: "PAYMENT_CAPTURE_FAILED", message: "The amount cannot be taken." })
    }
    return intentOf(
      yield* Effect.catch(
        client.capture(intentId, units.value, key),
        Effect.fnUntraced(function*(failure) {
          const now = yield* stateAfter(client, intentId, failure, refused)
          return now.status === "succeeded" || now.status === "canceled" ? now : yield* refused(failure)
        })
      )
    )
  })
}

const canceller = (client: StripeClient): PaymentAdapter["cancel"] => {
  const refused = refusalOf("PAYMENT_CANCEL_FAILED")

  /** Refunds what is left of a captured payment, if anything. */
  const refundIntent = (intentId: string, key: string) =>
    client.refund({ payment_intent: intentId, metadata: { idempotencyKey: key } }, key).pipe(
      Effect.asVoid,
      Effect.catchIf(({ code }) => code === "charge_already_refunded", () => Effect.void),
      Effect.catch(refused)
    )

  return Effect.fn("StripeProvider.cancel")(function*(intentId, key) {
    if (isFree(intentId)) return
    const now = yield* Effect.catch(
      client.cancel(intentId, key),
      (failure) => stateAfter(client, intentId, failure, refused)
    )
    if (now.status === "canceled") return
    if (now.status === "succeeded") return yield* refundIntent(intentId, `${key}:refund`)
    return yield* unknown(`The payment is ${now.status} and cannot be cancelled yet.`)
  })
}

const refunder = (client: StripeClient, { currencyOf }: Currencies): PaymentAdapter["refund"] => {
  const code = "PAYMENT_REFUND_FAILED"
  const refused = refusalOf(code)
  return Effect.fn("StripeProvider.refund")(
    function*(intentId, amount, reason, key) {
      if (isFree(intentId)) return yield* new PaymentDeclined({ code, message: "Nothing was paid." })
      const currency = yield* currencyOf(intentId)
      const units = toStripe(amount, currency)
      if (Option.isNone(units)) return yield* new PaymentDeclined({ code, message: "The amount cannot be given back." })
      // Attempts continue for longer than Stripe keeps a key, and then a second call would be a second refund.
      const earlier = (yield* client.refundsOf(intentId)).find(({ metadata }) => metadata?.["idempotencyKey"] === key)
      const refund = earlier ?? (yield* client.refund({
        payment_intent: intentId,
        amount: units.value,
        metadata: { idempotencyKey: key, reason: reason.slice(0, 500) }
      }, key))
      if (refund.status === "failed" || refund.status === "canceled") {
        return yield* new PaymentDeclined({ code, message: "The bank did not take the money back." })
      }
      return refund.id
    },
    Effect.catchTag("StripeFailure", refused)
  )
}

/**
 * A Stripe account as payment provider (contract §3.7): PaymentIntents with manual capture. Every unsafe call carries
 * its key; after Stripe has dropped a key, the payment's state and metadata replace it.
 */
export const stripeProvider = (account: StripeAccount): PaymentAdapter => {
  const client = stripeClient(account)
  const currencies = currencyCache(client)
  const authorize = authorizer(client, account)
  return {
    providerId: account.id,
    authorize: (request) => Effect.tap(authorize(request), (intent) => Effect.sync(() => currencies.note(intent))),
    capture: capturer(client, currencies),
    cancel: canceller(client),
    refund: refunder(client, currencies),
    verifyWebhook: verifyStripeEvent(account, client)
  }
}
