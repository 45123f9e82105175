import { Context, Data, Effect, Layer, Schema } from "effect"
import type { CurrentActor } from "../platform/access/Actor.ts"
import { body } from "../platform/errors/ApiErrors.ts"
import type { CustomerId, OrderId } from "../platform/ids/Id.ts"

/** An authorization request; `amount` in minor units of `currency` (contract §3.7). */
export interface PaymentRequest {
  readonly amount: number
  readonly currency: string
  readonly orderId: OrderId
  readonly customerId: CustomerId | null
  readonly paymentMethodToken: string | null
  readonly metadata: Readonly<Record<string, string>>
  /** The checkout id: the same key returns the provider's first answer, so a retry never charges twice. */
  readonly idempotencyKey: string
}

/**
 * `requires_action`: the shopper must confirm with `clientSecret`. The capture waits for
 * `payment_intent.amount_capturable_updated`, or `payment_intent.succeeded` if the provider captures automatically.
 */
export type IntentStatus = "requires_capture" | "requires_action" | "succeeded" | "canceled"

/** A payment as the provider reports it; minor units. */
export interface PaymentIntent {
  readonly id: string
  readonly status: IntentStatus
  readonly amount: number
  readonly currency: string
  readonly clientSecret: string | null
  /** Where the shopper confirms, if it is a page of the bank. */
  readonly redirectUrl?: string | null
  readonly amountCaptured: number
}

/** The provider declined; final. `code` as in contract §3.7, `message` is shown to the shopper, who has to confirm if `needsShopper`. */
export class PaymentDeclined extends Data.TaggedError("PaymentDeclined")<{
  readonly code:
    | "PAYMENT_INTENT_CREATE_FAILED"
    | "PAYMENT_CAPTURE_FAILED"
    | "PAYMENT_REFUND_FAILED"
    | "PAYMENT_CANCEL_FAILED"
  readonly message: string
  readonly needsShopper?: boolean
}> {}

/** No valid answer: the money may or may not have moved. Only a retry with the same key can tell. */
export class PaymentUnknown extends Data.TaggedError("PaymentUnknown")<{ readonly message: string }> {}

export interface PaymentEvent {
  readonly id: string
  readonly type: string
  readonly intentId: string
  readonly amount: number | null
  readonly currency: string | null
  readonly orderId: string | null
  readonly organizationId: string | null
}

/** An inbound event without a valid signature (400, contract §11). */
export class WebhookRejected extends Data.TaggedError("WebhookRejected")<{
  readonly code: "WEBHOOK_SIGNATURE_MISSING" | "WEBHOOK_VERIFICATION_FAILED"
  readonly message: string
}> {}

type Call<A> = Effect.Effect<A, PaymentDeclined | PaymentUnknown, CurrentActor>

/** A payment that the shopper confirms before the checkout, with the key that a page may show. */
export interface OpenedSession {
  /** Token of the checkout that adopts the payment. */
  readonly paymentMethodToken: string
  readonly clientSecret: string
  readonly publishableKey: string | null
}

export type SessionRequest = Pick<PaymentRequest, "amount" | "currency" | "metadata" | "idempotencyKey">

/** The part of an amount that an instrument can pay, in minor units; more than 0. `label` is shown to the shopper. */
export interface PaymentOffer {
  readonly amount: number
  readonly label: string
  /** The instrument was taxed when it was sold: what it pays for is not taxed again (contract-commerce §2). */
  readonly singlePurpose?: boolean
}

/**
 * A payment provider (contract §3.7). The adapter that authorized an order also captures, cancels and refunds it. The
 * durable checkout may repeat any call with the same idempotency key.
 */
export interface PaymentAdapter {
  readonly providerId: string
  /** A balance of the shop, such as gift cards: refunds go to other payments first (contract, plugins §17.6). */
  readonly isStoredValue?: boolean
  /**
   * Some of its instruments may be single-purpose. Each is then asked once, before the tax is known, for all that it
   * can pay; the checkout uses a part of that offer.
   */
  readonly hasSinglePurpose?: boolean
  /**
   * Runs before the prices are stored; the offer is authorized a moment later. Absent: the full amount. Declines an
   * instrument that cannot pay at all.
   */
  readonly offer?: (request: PaymentRequest) => Call<PaymentOffer>
  /**
   * Replaces a token that must not be stored, such as the code of a gift card; `offer` and `authorize` get the result.
   */
  readonly conceal?: (token: string) => string
  readonly authorize: (request: PaymentRequest) => Call<PaymentIntent>
  /**
   * Opens a payment of a cart, which `metadata` names. `authorize` with its token adopts it once it is confirmed, and
   * voids and declines one of another amount. Absent: the provider has none.
   */
  readonly session?: (request: SessionRequest) => Call<OpenedSession>
  /** Reads a payment, for a shopper who comes back to confirm it. Absent: its secret is shown by the checkout only. */
  readonly find?: (intentId: string) => Call<PaymentIntent>
  readonly capture: (intentId: string, amount: number, idempotencyKey: string) => Call<PaymentIntent>
  /** Voids an authorization; a captured payment is refunded in full instead. Repeating it is harmless. */
  readonly cancel: (intentId: string, idempotencyKey: string) => Call<void>
  /** Returns the provider's reference of the refund. */
  readonly refund: (intentId: string, amount: number, reason: string, idempotencyKey: string) => Call<string>
  /**
   * Checks the signature over the raw body. Absent: the provider sends no events, and the capture confirms its orders.
   */
  readonly verifyWebhook?: (
    headers: Readonly<Record<string, string | undefined>>,
    rawBody: string
  ) => Effect.Effect<PaymentEvent, WebhookRejected>
}

export interface SelectedPayment {
  readonly adapter: PaymentAdapter
  readonly token: string | null
}

/** The providers of this deployment; the first is the default. */
export class PaymentAdapters extends Context.Service<PaymentAdapters, {
  /**
   * A method or provider id names its adapter, anything else is an instrument token for the default one (contract
   * §3.1).
   */
  readonly select: (paymentMethodId: string) => SelectedPayment
  readonly named: (method: string) => SelectedPayment | undefined
  readonly all: ReadonlyArray<PaymentAdapter>
  readonly byProvider: (providerId: string) => PaymentAdapter | undefined
  /** Adds adapters of a plugin while the process starts; the default stays. */
  readonly register: (adapters: ReadonlyArray<PaymentAdapter>) => Effect.Effect<void>
}>()("stoa/domain/payments/PaymentAdapters") {
  static readonly layerOf = (
    [byDefault, ...others]: readonly [PaymentAdapter, ...ReadonlyArray<PaymentAdapter>],
    methods: ReadonlyMap<string, string>
  ): Layer.Layer<PaymentAdapters> =>
    Layer.sync(PaymentAdapters, () => {
      const all = [byDefault, ...others]
      const byProvider = (providerId: string) => all.find((one) => one.providerId === providerId)
      const named = (method: string) => {
        const adapter = byProvider(methods.get(method) ?? method)
        return adapter === undefined ? undefined : { adapter, token: methods.has(method) ? method : null }
      }
      return {
        named,
        select: (paymentMethodId) => named(paymentMethodId) ?? { adapter: byDefault, token: paymentMethodId },
        all,
        byProvider,
        register: (brought) => Effect.sync(() => void all.push(...brought))
      }
    })
}

/** 400: an event without a signature (contract §11). */
export class WebhookSignatureMissing extends Schema.Error<WebhookSignatureMissing>("WebhookSignatureMissing")(
  body("WEBHOOK_SIGNATURE_MISSING"),
  { httpApiStatus: 400 }
) {
  readonly _tag = "WebhookSignatureMissing"
  static of = (message: string) =>
    new WebhookSignatureMissing({ error: { code: "WEBHOOK_SIGNATURE_MISSING", message } })
}

/** 400: the signature does not belong to this body, or the body is no event (contract §11). */
export class WebhookVerificationFailed extends Schema.Error<WebhookVerificationFailed>("WebhookVerificationFailed")(
  body("WEBHOOK_VERIFICATION_FAILED"),
  { httpApiStatus: 400 }
) {
  readonly _tag = "WebhookVerificationFailed"
  static of = (message: string) =>
    new WebhookVerificationFailed({ error: { code: "WEBHOOK_VERIFICATION_FAILED", message } })
}

/** 503: without the provider's secret no event can be verified; the provider retries (contract §11). */
export class WebhookSecretMissing extends Schema.Error<WebhookSecretMissing>("WebhookSecretMissing")(
  body("WEBHOOK_SECRET_MISSING"),
  { httpApiStatus: 503 }
) {
  readonly _tag = "WebhookSecretMissing"
  static of = (message: string) => new WebhookSecretMissing({ error: { code: "WEBHOOK_SECRET_MISSING", message } })
}

/** 422: the provider refused to capture; the order is as it was (contract §3.7). */
export class PaymentCaptureFailed extends Schema.Error<PaymentCaptureFailed>("PaymentCaptureFailed")(
  body("PAYMENT_CAPTURE_FAILED"),
  { httpApiStatus: 422 }
) {
  readonly _tag = "PaymentCaptureFailed"
  static of = (message: string) => new PaymentCaptureFailed({ error: { code: "PAYMENT_CAPTURE_FAILED", message } })
}

export class WebhookUnconfigured extends WebhookRejected {}

export const refusalOf = (
  rejected: WebhookRejected
): WebhookSignatureMissing | WebhookVerificationFailed | WebhookSecretMissing => {
  if (rejected instanceof WebhookUnconfigured) return WebhookSecretMissing.of(rejected.message)
  return rejected.code === "WEBHOOK_SIGNATURE_MISSING"
    ? WebhookSignatureMissing.of(rejected.message)
    : WebhookVerificationFailed.of(rejected.message)
}
