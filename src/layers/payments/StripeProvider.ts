import { Clock, Effect, Option } from "effect"
import type Stripe from "stripe"
import {
  type PaymentAdapter,
  PaymentDeclined,
  type PaymentIntent,
  type PaymentRequest,
  PaymentUnknown,
  type SessionRequest
} from "../../domain/payments/PaymentAdapter.ts"
import { isUuid } from "../../domain/platform/ids/Id.ts"
import type { StripeAccount } from "../config/PaymentConfig.ts"
import { refusalOf, type StripeClient, stripeClient, type StripeFailure } from "./StripeClient.ts"
import { verifyStripeEvent } from "./StripeEvents.ts"
import { free, freeId, intentOf, isFree, toStripe } from "./StripeMoney.ts"

const unknown = (message: string) => Effect.fail(new PaymentUnknown({ message }))

/** Units of Stripe; declines an amount that it cannot take. */
const unitsOf = ({ amount, currency }: Pick<PaymentRequest, "amount" | "currency">) => {
  const message = `The payment provider cannot take ${amount} minor units of ${currency} to the unit.`
  return Option.match(toStripe(amount, currency), {
    onNone: () => Effect.fail(new PaymentDeclined({ code: "PAYMENT_INTENT_CREATE_FAILED", message })),
    onSome: Effect.succeed
  })
}

/** The same for the same request: Stripe refuses a repeated key with others. */
const paramsOf = (request: PaymentRequest, units: number, { returnUrl }: StripeAccount) => {
  const params: Stripe.PaymentIntentCreateParams = {
    amount: units,
    currency: request.currency.toLowerCase(),
    capture_method: "manual",
    metadata: { ...request.metadata },
    ...request.paymentMethodToken === null
      ? { automatic_payment_methods: { enabled: true } }
      : returnUrl === undefined
      ? {
        payment_method: request.paymentMethodToken,
        confirm: true,
        automatic_payment_methods: { enabled: true, allow_redirects: "never" }
      }
      : {
        payment_method: request.paymentMethodToken,
        confirm: true,
        automatic_payment_methods: { enabled: true },
        return_url: returnUrl
      }
  }
  return params
}

/** Stripe keeps a key for a day; one hour less for clock differences. */
const keyLifeMs = 23 * 3_600_000

const madeAt = (key: string): number | undefined =>
  isUuid(key) && key.charAt(14) === "7" ? Number.parseInt(key.replaceAll("-", "").slice(0, 12), 16) : undefined

const isUnconfirmed = ({ status }: Stripe.PaymentIntent): boolean =>
  ["requires_payment_method", "requires_confirmation", "requires_action"].includes(status)

const isSession = (token: string | null): token is string => token !== null && /^pi_\w+$/.test(token)

/** Opens payments for wallets, and adopts those that their shopper has confirmed. */
const sessions = (client: StripeClient, account: StripeAccount) => {
  const code = "PAYMENT_INTENT_CREATE_FAILED"
  const refused = refusalOf(code)
  const decline = (message: string) => Effect.fail(new PaymentDeclined({ code, message }))

  const open = Effect.fn("StripeProvider.session")(function*(request: SessionRequest) {
    const params = {
      amount: yield* unitsOf(request),
      currency: request.currency.toLowerCase(),
      capture_method: "manual" as const,
      automatic_payment_methods: { enabled: true },
      metadata: { ...request.metadata }
    }
    const { value } = yield* Effect.catch(client.create(params, request.idempotencyKey), refused)
    return {
      paymentMethodToken: value.id,
      clientSecret: value.client_secret ?? "",
      publishableKey: account.publishableKey ?? null
    }
  })

  const adopt = Effect.fnUntraced(
    function*(token: string, { currency, idempotencyKey, metadata }: PaymentRequest, units: number) {
      const found = yield* Effect.catch(client.retrieve(token), refused)
      const isOf = (name: string) => found.metadata[name] === metadata[name]
      if (!isOf("organizationId") || !isOf("cartId")) return yield* decline("This payment belongs to another cart.")
      if (isOf("checkoutId")) return found
      if (isUnconfirmed(found) && found.metadata["checkoutId"] === undefined) {
        const message = "The shopper has not confirmed this payment yet. Check out once it is confirmed."
        return yield* new PaymentDeclined({ code, message, needsShopper: true })
      }
      if (found.metadata["checkoutId"] !== undefined || found.status !== "requires_capture") {
        return yield* decline("This payment was used before or has ended. Open another payment session.")
      }
      if (found.amount !== units || found.currency !== currency.toLowerCase()) {
        yield* Effect.catch(client.cancel(token, `${idempotencyKey}:void`), refused)
        return yield* decline(
          "The total has changed since the payment was confirmed, and it was voided. Open another payment session."
        )
      }
      return yield* Effect.catch(client.adopt(token, metadata, `${idempotencyKey}:adopt`), refused)
    }
  )

  return { open, adopt }
}

/** Authorizes once per key, however often and late it is called. */
const authorizer = (
  client: StripeClient,
  account: StripeAccount,
  { adopt }: Pick<ReturnType<typeof sessions>, "adopt">
) => {
  const refused = refusalOf("PAYMENT_INTENT_CREATE_FAILED")

  const lookUp = Effect.fnUntraced(
    function*(key: string, absent: Effect.Effect<never, PaymentDeclined | PaymentUnknown>) {
      const found = isUuid(key) ? yield* Effect.catch(client.ofCheckout(key), refused) : undefined
      return found ?? (yield* absent)
    }
  )

  const asked = Effect.fnUntraced(function*(request: PaymentRequest, units: number) {
    const key = request.idempotencyKey
    const made = madeAt(key)
    if (made !== undefined && (yield* Clock.currentTimeMillis) - made > keyLifeMs) {
      const message = "The payment was never made."
      return yield* lookUp(key, Effect.fail(new PaymentDeclined({ code: "PAYMENT_INTENT_CREATE_FAILED", message })))
    }
    return yield* client.create(paramsOf(request, units, account), key).pipe(
      // A replayed answer is old: the payment may be confirmed or cancelled since.
      Effect.flatMap(({ replayed, value }) => replayed ? client.retrieve(value.id) : Effect.succeed(value)),
      Effect.catch((failure) => {
        const only = failure.kind === "reused" || failure.kind === "silent" && failure.replayed
        return only ? lookUp(key, unknown("The payment provider gave no answer that can be used.")) : refused(failure)
      })
    )
  })

  return Effect.fn("StripeProvider.authorize")(function*(request: PaymentRequest) {
    const { amount, currency, idempotencyKey, paymentMethodToken } = request
    if (amount === 0) return free(freeId(idempotencyKey), currency, "requires_capture")
    const units = yield* unitsOf(request)
    return intentOf(
      yield* isSession(paymentMethodToken) ? adopt(paymentMethodToken, request, units) : asked(request, units)
    )
  })
}

const maxCached = 10_000

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

/** After a refusal: an earlier try may have captured or cancelled it. */
const stateAfter = Effect.fnUntraced(function*(
  client: StripeClient,
  intentId: string,
  failure: StripeFailure,
  refused: ReturnType<typeof refusalOf>
) {
  if (failure.kind === "silent" || failure.kind === "busy") return yield* refused(failure)
  return yield* Effect.catch(client.retrieve(intentId), refused)
})

const capturer = (client: StripeClient, { currencyOf }: Currencies) => {
  const refused = refusalOf("PAYMENT_CAPTURE_FAILED")
  return Effect.fn("StripeProvider.capture")(function*(intentId: string, amount: number, key: string) {
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

const canceller = (client: StripeClient) => {
  const refused = refusalOf("PAYMENT_CANCEL_FAILED")

  const refundIntent = (intentId: string, key: string) =>
    client.refund({ payment_intent: intentId, metadata: { idempotencyKey: key } }, key).pipe(
      Effect.asVoid,
      Effect.catchIf(({ code }) => code === "charge_already_refunded", () => Effect.void),
      Effect.catch(refused)
    )

  return Effect.fn("StripeProvider.cancel")(function*(intentId: string, key: string) {
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

const refunder = (client: StripeClient, { currencyOf }: Currencies) => {
  const code = "PAYMENT_REFUND_FAILED"
  const refused = refusalOf(code)
  return Effect.fn("StripeProvider.refund")(
    function*(intentId: string, amount: number, reason: string, key: string) {
      if (isFree(intentId)) return yield* new PaymentDeclined({ code, message: "Nothing was paid." })
      const currency = yield* currencyOf(intentId)
      const units = toStripe(amount, currency)
      if (Option.isNone(units)) return yield* new PaymentDeclined({ code, message: "The amount cannot be given back." })
      // Attempts outlast Stripe's keys: a second call would be a second refund.
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
 * A Stripe account (contract §3.7): PaymentIntents with manual capture. Every unsafe call carries its key; once Stripe
 * has dropped it, the payment's state and metadata replace it.
 */
export const stripeProvider = (account: StripeAccount) => {
  const client = stripeClient(account)
  const currencies = currencyCache(client)
  const { adopt, open: session } = sessions(client, account)
  const authorize = authorizer(client, account, { adopt })
  return {
    providerId: account.id,
    authorize: (request: PaymentRequest) =>
      Effect.tap(authorize(request), (intent) => Effect.sync(() => currencies.note(intent))),
    session,
    find: (intentId: string) =>
      client.retrieve(intentId).pipe(Effect.map(intentOf), Effect.catch(refusalOf("PAYMENT_INTENT_CREATE_FAILED"))),
    capture: capturer(client, currencies),
    cancel: canceller(client),
    refund: refunder(client, currencies),
    verifyWebhook: verifyStripeEvent(account, client)
  } satisfies PaymentAdapter
}
