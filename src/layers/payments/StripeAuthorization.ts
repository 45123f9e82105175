import { Clock, Effect, Option } from "effect"
import type Stripe from "stripe"
import { isUuid } from "../../domain/ids/Id.ts"
import { PaymentDeclined, type PaymentRequest, PaymentUnknown } from "../../domain/payments/PaymentAdapter.ts"
import type { StripeAccount } from "../config/PaymentConfig.ts"
import type { StripeClient } from "./StripeClient.ts"
import { refusalOf } from "./StripeFailure.ts"
import { free, freeId, intentOf } from "./StripeIntents.ts"
import { toStripe } from "./StripeMoney.ts"

const noAnswer = Effect.fail(
  new PaymentUnknown({ message: "The payment provider gave no answer that can be used." })
)

/** The same parameters for the same request: Stripe refuses a repeated key with others. */
const paramsOf = (request: PaymentRequest, units: number, { returnUrl }: StripeAccount) => {
  const params: Stripe.PaymentIntentCreateParams = {
    amount: units,
    currency: request.currency.toLowerCase(),
    capture_method: "manual",
    metadata: { ...request.metadata },
    // Without a token the shopper chooses an instrument with the client secret, in Stripe's form.
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

/** Stripe keeps a key for at least a day; one hour less allows for clock differences. */
const keyLifeMs = 23 * 3_600_000

/** Creation time of a key in milliseconds: our keys are UUIDs of version 7, which begin with it. */
const madeAt = (key: string): number | undefined =>
  isUuid(key) && key.charAt(14) === "7" ? Number.parseInt(key.replaceAll("-", "").slice(0, 12), 16) : undefined

/** Authorizes an amount once per key, no matter how often and how late it is called. */
export const authorizer = (client: StripeClient, account: StripeAccount) => {
  const refused = refusalOf("PAYMENT_INTENT_CREATE_FAILED")

  /** Finds the payment of a key that Stripe has dropped or used for another request. */
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
      // A replayed answer is the first one: the shopper may have confirmed since, or the payment been cancelled.
      Effect.flatMap(({ replayed, value }) => replayed ? client.retrieve(value.id) : Effect.succeed(value)),
      Effect.catch((failure) => {
        const only = failure.kind === "reused" || failure.kind === "silent" && failure.replayed
        return only ? lookUp(key, noAnswer) : refused(failure)
      })
    )
  })

  return Effect.fn("StripeProvider.authorize")(function*(request: PaymentRequest) {
    const { amount, currency, idempotencyKey } = request
    if (amount === 0) return free(freeId(idempotencyKey), currency, "requires_capture")
    const units = toStripe(amount, currency)
    if (Option.isNone(units)) {
      const message = `The payment provider cannot take ${amount} minor units of ${currency} to the unit.`
      return yield* new PaymentDeclined({ code: "PAYMENT_INTENT_CREATE_FAILED", message })
    }
    return intentOf(yield* asked(request, units.value))
  })
}
