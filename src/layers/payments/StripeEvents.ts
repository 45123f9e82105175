import { Effect, Redacted, Schema } from "effect"
import Stripe from "stripe"
import { type PaymentEvent, WebhookRejected, WebhookUnconfigured } from "../../domain/payments/PaymentAdapter.ts"
import type { StripeAccount } from "../config/PaymentConfig.ts"
import type { StripeClient } from "./StripeClient.ts"
import { fromStripe } from "./StripeMoney.ts"

const text = Schema.optional(Schema.NullOr(Schema.String))
const units = Schema.optional(Schema.NullOr(Schema.Int))
const Named = Schema.Struct({ orderId: text, organizationId: text })
const Reference = Schema.Union([Schema.String, Schema.Struct({ id: Schema.String })])

/** Endpoints have their own API versions: only these fields are validated. */
const EventBody = Schema.fromJsonString(Schema.Struct({
  id: Schema.NonEmptyString.check(Schema.isMaxLength(255)),
  type: Schema.NonEmptyString.check(Schema.isMaxLength(255)),
  data: Schema.Struct({
    object: Schema.Struct({
      id: text,
      object: text,
      amount: units,
      amount_received: units,
      amount_refunded: units,
      currency: text,
      payment_intent: Schema.optional(Schema.NullOr(Reference)),
      metadata: Schema.optional(Schema.NullOr(Named))
    })
  })
}))

const readEvent = Schema.decodeUnknownEffect(EventBody)

type EventObject = typeof EventBody.Type["data"]["object"]

const intentOf = ({ id, object, payment_intent: intent }: EventObject): string =>
  (object === "payment_intent" ? id : typeof intent === "string" ? intent : intent?.id) ?? ""

const unitsOf = (type: string, object: EventObject) => {
  if (type === "charge.refunded") return object.amount_refunded
  return type === "payment_intent.succeeded" ? object.amount_received ?? object.amount : object.amount
}

const verification = (message: string) => new WebhookRejected({ code: "WEBHOOK_VERIFICATION_FAILED", message })

const isSigned = ({ toleranceSeconds, webhookSecrets }: StripeAccount, rawBody: string, signature: string): boolean =>
  webhookSecrets.some((secret) => {
    try {
      return Stripe.webhooks.signature?.verifyHeader(rawBody, signature, Redacted.value(secret), toleranceSeconds) ===
        true
    } catch {
      return false
    }
  })

/** Disputes and refunds do not name the order: read from the payment; without an answer there is none. */
const namedBy = (client: StripeClient, type: string, object: EventObject): Effect.Effect<typeof Named.Type> =>
  type.startsWith("charge.dispute.") || type === "refund.failed"
    ? client.retrieve(intentOf(object)).pipe(
      Effect.flatMap(({ metadata }) => Schema.decodeUnknownEffect(Named)(metadata)),
      Effect.catch(() => Effect.succeed({}))
    )
    : Effect.succeed(object.metadata ?? {})

/**
 * Checks `Stripe-Signature` over the raw body with each secret (two during a rotation), and reads the event (contract
 * §11).
 */
export const verifyStripeEvent = (account: StripeAccount, client: StripeClient) =>
  Effect.fn("StripeProvider.verifyWebhook")(function*(
    headers: Readonly<Record<string, string | undefined>>,
    rawBody: string
  ) {
    if (account.webhookSecrets.length === 0) {
      const message = "The secret of the provider's events is not configured."
      return yield* new WebhookUnconfigured({ code: "WEBHOOK_VERIFICATION_FAILED", message })
    }
    const signature = headers["stripe-signature"]
    if (signature === undefined) {
      return yield* new WebhookRejected({ code: "WEBHOOK_SIGNATURE_MISSING", message: "The event is not signed." })
    }
    if (!isSigned(account, rawBody, signature)) return yield* verification("The signature does not fit the event.")
    const { data: { object }, id, type } = yield* readEvent(rawBody).pipe(
      Effect.mapError(() => verification("The body is not an event of this provider."))
    )
    const amount = unitsOf(type, object)
    const named = yield* namedBy(client, type, object)
    const event: PaymentEvent = {
      id,
      type,
      intentId: intentOf(object),
      amount: amount === undefined || amount === null ? null : fromStripe(amount, object.currency ?? ""),
      currency: object.currency ?? null,
      orderId: named.orderId ?? null,
      organizationId: named.organizationId ?? null
    }
    return event
  })
