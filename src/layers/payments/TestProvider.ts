import { Effect, Schema } from "effect"
import { createHash, createHmac, timingSafeEqual } from "node:crypto"
import {
  type IntentStatus,
  type PaymentAdapter,
  PaymentDeclined,
  type PaymentIntent,
  type PaymentRequest,
  type SessionRequest,
  WebhookRejected,
  WebhookUnconfigured
} from "../../domain/payments/PaymentAdapter.ts"

/** Methods of the built-in provider, outside production (contract §3.1). */
export const testMethods: ReadonlyMap<string, string> = new Map([
  ["test", "test"],
  ["test_decline", "test"],
  ["test_capture_fail", "test"],
  ["test_requires_action", "test"]
])

const digest = (text: string): string => createHash("sha256").update(text).digest("hex").slice(0, 24)

/** The id contains the payment: every process answers the same, and nothing is stored. */
const intentPattern = /^pi_test_(ok|nocapture|asks)_([a-z]{3})_(\d{1,16})_[0-9a-f]{24}$/

interface TestIntent {
  readonly id: string
  readonly captures: boolean
  readonly asks: boolean
  readonly currency: string
  readonly amount: number
}

const readIntent = (id: string): TestIntent | undefined => {
  const [, kind, currency, amount] = intentPattern.exec(id) ?? []
  return kind === undefined || currency === undefined
    ? undefined
    : {
      id,
      captures: kind !== "nocapture",
      asks: kind === "asks",
      currency: currency.toUpperCase(),
      amount: Number(amount)
    }
}

const answer = (intent: TestIntent, status: IntentStatus, amountCaptured: number): PaymentIntent => ({
  id: intent.id,
  status,
  amount: intent.amount,
  currency: intent.currency,
  clientSecret: `${intent.id}_secret`,
  amountCaptured
})

const decline = (code: PaymentDeclined["code"], message: string) => Effect.fail(new PaymentDeclined({ code, message }))

/** Nothing is stored: only the service knows whether the shopper has confirmed. */
const authorized = (intent: TestIntent) => answer(intent, intent.asks ? "requires_action" : "requires_capture", 0)

const kinds = new Map([["test_capture_fail", "nocapture"], ["test_requires_action", "asks"]])

const sessionOf = ({ amount, currency, idempotencyKey }: SessionRequest) => {
  const paymentMethodToken = `pi_test_ok_${currency.toLowerCase()}_${amount}_${digest(idempotencyKey)}`
  return Effect.succeed({
    paymentMethodToken,
    clientSecret: `${paymentMethodToken}_secret`,
    publishableKey: "pk_test_stoa"
  })
}

const adopted = (intent: TestIntent, { amount, currency }: PaymentRequest) =>
  intent.amount === amount && intent.currency === currency
    ? Effect.succeed(authorized(intent))
    : decline("PAYMENT_INTENT_CREATE_FAILED", "The total has changed since the payment was confirmed.")

const authorize = (request: PaymentRequest) => {
  const { amount, currency, idempotencyKey, paymentMethodToken } = request
  const session = readIntent(paymentMethodToken ?? "")
  if (session !== undefined) return adopted(session, request)
  if (paymentMethodToken === "test_decline") return decline("PAYMENT_INTENT_CREATE_FAILED", "The card was declined.")
  const kind = kinds.get(paymentMethodToken ?? "") ?? "ok"
  const id = `pi_test_${kind}_${currency.toLowerCase()}_${amount}_${digest(idempotencyKey)}`
  const intent = readIntent(id)
  return intent === undefined
    ? decline("PAYMENT_INTENT_CREATE_FAILED", `The amount ${amount} ${currency} cannot be paid.`)
    : Effect.succeed(authorized(intent))
}

const find = (intentId: string) => {
  const intent = readIntent(intentId)
  return intent === undefined
    ? decline("PAYMENT_INTENT_CREATE_FAILED", "No such payment.")
    : Effect.succeed(authorized(intent))
}

const capture = (intentId: string, amount: number, _idempotencyKey: string) => {
  const intent = readIntent(intentId)
  if (intent === undefined) return decline("PAYMENT_CAPTURE_FAILED", "No such payment.")
  if (!intent.captures) return decline("PAYMENT_CAPTURE_FAILED", "The bank refused to pay.")
  return amount > intent.amount
    ? decline("PAYMENT_CAPTURE_FAILED", "More than was authorized.")
    : Effect.succeed(answer(intent, "succeeded", amount))
}

const cancel = (intentId: string, _idempotencyKey: string) =>
  readIntent(intentId) === undefined ? decline("PAYMENT_CANCEL_FAILED", "No such payment.") : Effect.void

const refund = (intentId: string, amount: number, _reason: string, idempotencyKey: string) => {
  const intent = readIntent(intentId)
  return intent === undefined || amount > intent.amount
    ? decline("PAYMENT_REFUND_FAILED", intent === undefined ? "No such payment." : "More than was paid.")
    : Effect.succeed(`re_test_${digest(idempotencyKey)}`)
}

const optional = Schema.optional(Schema.NullOr(Schema.String))

const EventBody = Schema.fromJsonString(Schema.Struct({
  id: Schema.NonEmptyString.check(Schema.isMaxLength(255)),
  type: Schema.NonEmptyString.check(Schema.isMaxLength(255)),
  data: Schema.Struct({
    object: Schema.Struct({
      id: Schema.String,
      amount: Schema.optional(Schema.NullOr(Schema.Int.check(Schema.isBetween({
        minimum: 0,
        maximum: Number.MAX_SAFE_INTEGER
      })))),
      currency: optional,
      metadata: Schema.optional(Schema.NullOr(Schema.Struct({ orderId: optional, organizationId: optional })))
    })
  })
}))

const readEvent = Schema.decodeUnknownEffect(EventBody)

/** Hex HMAC-SHA256 of the raw body: header `x-payment-signature` (contract §11). */
export const signTestEvent = (secret: string, rawBody: string): string =>
  createHmac("sha256", secret).update(rawBody).digest("hex")

const isSignedBy = (secret: string, rawBody: string, signature: string): boolean => {
  const [expected, shown] = [signTestEvent(secret, rawBody), signature].map((text) => new TextEncoder().encode(text))
  return expected !== undefined && shown !== undefined && expected.length === shown.length &&
    timingSafeEqual(expected, shown)
}

const verification = (message: string) => new WebhookRejected({ code: "WEBHOOK_VERIFICATION_FAILED", message })

const verifyWebhook = (secret: string) =>
  Effect.fn("TestProvider.verifyWebhook")(
    function*(headers: Readonly<Record<string, string | undefined>>, rawBody: string) {
      if (secret === "") {
        const message = "The secret of the provider's events is not configured."
        return yield* new WebhookUnconfigured({ code: "WEBHOOK_VERIFICATION_FAILED", message })
      }
      const signature = headers["x-payment-signature"]
      if (signature === undefined) {
        return yield* new WebhookRejected({ code: "WEBHOOK_SIGNATURE_MISSING", message: "The event is not signed." })
      }
      if (!isSignedBy(secret, rawBody, signature)) return yield* verification("The signature does not fit the event.")
      const { data: { object }, id, type } = yield* readEvent(rawBody).pipe(
        Effect.mapError(() => verification("The body is not an event of this provider."))
      )
      return {
        id,
        type,
        intentId: object.id,
        amount: object.amount ?? null,
        currency: object.currency ?? null,
        orderId: object.metadata?.orderId ?? null,
        organizationId: object.metadata?.organizationId ?? null
      }
    }
  )

/**
 * The provider `test` pays always, except for the failing methods (contract §3.1); `test_requires_action` waits for the
 * event `payment_intent.amount_capturable_updated`. Empty `webhookSecret`: no events are accepted.
 */
export const testProvider = (options: { readonly webhookSecret: string }) => ({
  providerId: "test",
  authorize,
  session: sessionOf,
  find,
  capture,
  cancel,
  refund,
  verifyWebhook: verifyWebhook(options.webhookSecret)
} satisfies PaymentAdapter)
