import { Effect, Schedule } from "effect"
import type { PricedCart } from "../../domain/checkout/Checkout.ts"
import { CheckoutFailed } from "../../domain/errors/ApiErrors.ts"
import {
  type PaymentAdapter,
  PaymentAdapters,
  PaymentDeclined,
  type PaymentIntent,
  type PaymentRequest,
  type PaymentUnknown
} from "../../domain/payments/PaymentAdapter.ts"
import { adapterOf, answerWithin } from "../payments/ProviderCalls.ts"
import { VoidPayment } from "../payments/VoidPayment.ts"
import type { CheckoutPayload } from "./CheckoutWorkflow.ts"

/**
 * Asks a provider up to three times with one idempotency key, so that no money moves twice. If it stays silent, a durable
 * workflow resolves the payment later (ARCHITECTURE §3).
 */
const ask = <A>(call: Effect.Effect<A, PaymentDeclined | PaymentUnknown>) =>
  Effect.retry(answerWithin(call, "5 seconds"), {
    times: 2,
    schedule: Schedule.exponential("200 millis"),
    while: (error) => error._tag === "PaymentUnknown"
  })

/** The provider that the current configuration selects for this checkout. */
export const providerOf = ({ request }: CheckoutPayload) =>
  Effect.map(PaymentAdapters, (adapters) => adapters.select(request.paymentMethodId).adapter.providerId)

/** The parts of a priced cart or order that a payment needs. `paymentProvider` is absent in older stored payloads. */
type Payable = Pick<PricedCart, "customerId" | "grandTotal" | "paymentProvider">

/**
 * The adapter and the payment request of this checkout; the checkout id is the idempotency key. The provider that was
 * stored first wins over the current configuration, because it holds the money.
 */
export const paymentOf = Effect.fnUntraced(
  function*(payload: CheckoutPayload, { customerId, grandTotal, paymentProvider }: Payable) {
    const { paymentMethodId } = payload.request
    const selected = (yield* PaymentAdapters).select(paymentMethodId)
    const { adapter, token } = paymentProvider === undefined || paymentProvider === selected.adapter.providerId
      ? selected
      : {
        adapter: yield* adapterOf(paymentProvider),
        token: paymentMethodId === paymentProvider ? null : paymentMethodId
      }
    const request: PaymentRequest = {
      amount: grandTotal,
      currency: payload.request.currency,
      orderId: payload.checkoutId,
      customerId,
      paymentMethodToken: payload.request.paymentMethodToken ?? token,
      metadata: {
        orderId: payload.checkoutId,
        organizationId: payload.actor.organizationId,
        checkoutId: payload.checkoutId,
        cartId: payload.request.cartId
      },
      idempotencyKey: payload.checkoutId
    }
    return { adapter, request }
  }
)

/** Voids an orphaned payment by a durable workflow, however long the provider is silent. */
export const voidLater = (adapter: PaymentAdapter, request: PaymentRequest, intentId: string | null) =>
  Effect.asVoid(VoidPayment.execute({ providerId: adapter.providerId, request, intentId }, { discard: true }))

/** Authorizes the amount. */
export const authorize = Effect.fn("Checkout.authorize")(function*(adapter: PaymentAdapter, request: PaymentRequest) {
  const intent = yield* ask(adapter.authorize(request))
  if (intent.status !== "canceled") return intent
  // An earlier run of this checkout failed, voided it and died before it reported the failure.
  return yield* new PaymentDeclined({ code: "PAYMENT_INTENT_CREATE_FAILED", message: "it was cancelled." })
})

/** The error of a failed authorization, for the shopper. */
export const authorizationFailed = ({ message }: PaymentDeclined | PaymentUnknown) =>
  CheckoutFailed.of(`Payment authorization failed: ${message}`)

/** Compensation of a failed authorization: voids the payment only if its outcome is unknown. */
export const voidUnknown = (
  { adapter, request }: { readonly adapter: PaymentAdapter; readonly request: PaymentRequest },
  error: PaymentDeclined | PaymentUnknown
) => error._tag === "PaymentUnknown" ? voidLater(adapter, request, null) : Effect.void

/** Requests the secret that confirms a payment again; null if the provider returns none. */
export const clientSecretOf = (
  { adapter, request }: { readonly adapter: PaymentAdapter; readonly request: PaymentRequest }
) =>
  ask(adapter.authorize(request)).pipe(
    Effect.map(({ clientSecret }) => clientSecret),
    Effect.catch(() => Effect.succeed(null))
  )

/** The idempotency key of a payment's capture, shared by all who capture it. */
export const captureKey = ({ idempotencyKey }: PaymentRequest): string => `${idempotencyKey}:capture`

/** Whether the full amount was captured; anything else is a failure. */
export const isCaptured = (intent: PaymentIntent, { amount }: PaymentRequest): boolean =>
  intent.status === "succeeded" && intent.amountCaptured === amount

/** Captures the authorized amount. A partial capture, or one of a voided payment, is a failure. */
export const capture = Effect.fn("Checkout.capture")(function*(
  adapter: PaymentAdapter,
  request: PaymentRequest,
  intentId: string
) {
  const intent = yield* ask(adapter.capture(intentId, request.amount, captureKey(request))).pipe(
    Effect.mapError((error) => CheckoutFailed.of(`Payment capture failed: ${error.message}`))
  )
  if (isCaptured(intent, request)) return intent
  yield* Effect.logError(`payment ${intentId} was not captured in full`, intent)
  return yield* CheckoutFailed.of("Payment capture failed: the amount was not taken in full.")
})

/** Compensation of an authorization or of a capture with unknown outcome: voids or refunds the payment. */
export const voidPayment = Effect.fn("Checkout.voidPayment")(function*(
  adapter: PaymentAdapter,
  request: PaymentRequest,
  intentId: string
) {
  yield* ask(adapter.cancel(intentId, `${request.idempotencyKey}:cancel`)).pipe(
    Effect.catch(() => voidLater(adapter, request, intentId))
  )
})
