import { Effect, Schedule } from "effect"
import type { PricedCart } from "../../domain/checkout/Checkout.ts"
import { CheckoutFailed } from "../../domain/errors/ApiErrors.ts"
import {
  type PaymentAdapter,
  PaymentAdapters,
  PaymentDeclined,
  type PaymentIntent,
  type PaymentRequest,
  PaymentUnknown
} from "../../domain/payments/PaymentAdapter.ts"
import { absentAdapter } from "../payments/AbsentAdapter.ts"
import { brokenAdapter } from "../payments/BrokenAdapter.ts"
import { VoidPayment } from "../payments/VoidPayment.ts"
import type { CheckoutPayload } from "./CheckoutWorkflow.ts"

/**
 * A provider that does not answer is asked again with the same key, which gives its first answer and moves no money
 * twice; three times here, and if it stays silent a durable process goes on asking (ARCHITECTURE §3). An adapter that
 * breaks has not answered either: repeating the checkout for ever would keep the cart from the shopper.
 */
const asked = <A>(answer: Effect.Effect<A, PaymentDeclined | PaymentUnknown>) =>
  answer.pipe(
    Effect.catchDefect(brokenAdapter),
    Effect.timeoutOrElse({
      duration: "5 seconds",
      orElse: () => Effect.fail(new PaymentUnknown({ message: "The payment provider did not answer in time." }))
    }),
    Effect.retry({
      times: 2,
      schedule: Schedule.exponential("200 millis"),
      while: (error) => error._tag === "PaymentUnknown"
    })
  )

/**
 * The adapter that answers for a payment method: the one that was asked first, whatever the configuration says today.
 * Its name is pinned before it is asked, so that money is looked for where it lies.
 */
const adapterOf = (adapters: PaymentAdapters["Service"], paymentMethodId: string, provider: string | undefined) => {
  const selected = adapters.select(paymentMethodId)
  return provider === undefined || provider === selected.adapter.providerId ? selected : {
    adapter: adapters.byProvider(provider) ?? absentAdapter(provider),
    token: paymentMethodId === provider ? null : paymentMethodId
  }
}

/** The provider that this checkout will ask, by the configuration of now. */
export const providerOf = ({ request }: CheckoutPayload) =>
  Effect.map(PaymentAdapters, (adapters) => adapters.select(request.paymentMethodId).adapter.providerId)

/** What decides a payment besides the request itself; `paymentProvider` is absent in what older versions pinned. */
type Payable = Pick<PricedCart, "customerId" | "grandTotal" | "paymentProvider">

/** The adapter of this checkout and what it is asked; the checkout id is the idempotency key of the whole payment. */
export const paymentOf = Effect.fnUntraced(
  function*(payload: CheckoutPayload, { customerId, grandTotal, paymentProvider }: Payable) {
    const { adapter, token } = adapterOf(yield* PaymentAdapters, payload.request.paymentMethodId, paymentProvider)
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

/** Makes sure, for as long as it takes, that a payment nobody wants any more is not kept. */
export const voidLater = (adapter: PaymentAdapter, request: PaymentRequest, intentId: string | null) =>
  Effect.asVoid(VoidPayment.execute({ providerId: adapter.providerId, request, intentId }, { discard: true }))

/** Step 2: the provider sets the amount aside. */
export const authorize = Effect.fn("Checkout.authorize")(function*(adapter: PaymentAdapter, request: PaymentRequest) {
  const intent = yield* asked(adapter.authorize(request))
  if (intent.status !== "canceled") return intent
  // An earlier run of this checkout failed and voided it, and died before it could say so.
  return yield* new PaymentDeclined({ code: "PAYMENT_INTENT_CREATE_FAILED", message: "it was cancelled." })
})

/** What the shopper is told when the amount could not be set aside. */
export const authorizationFailed = ({ message }: PaymentDeclined | PaymentUnknown) =>
  CheckoutFailed.of(`Payment authorization failed: ${message}`)

/** Compensation of a refused authorization: nothing, unless nobody knows whether it was refused. */
export const voidUnknown = (
  { adapter, request }: { readonly adapter: PaymentAdapter; readonly request: PaymentRequest },
  error: PaymentDeclined | PaymentUnknown
) => error._tag === "PaymentUnknown" ? voidLater(adapter, request, null) : Effect.void

/** What a shopper needs to confirm a payment, asked for once more by its key; null when the provider does not say. */
export const clientSecretOf = (
  { adapter, request }: { readonly adapter: PaymentAdapter; readonly request: PaymentRequest }
) =>
  asked(adapter.authorize(request)).pipe(
    Effect.map(({ clientSecret }) => clientSecret),
    Effect.catch(() => Effect.succeed(null))
  )

/** The key of a payment's one capture, whoever asks for it. */
export const captureKey = ({ idempotencyKey }: PaymentRequest): string => `${idempotencyKey}:capture`

/** Whether a capture took all of the money; anything else is a failure like a refusal. */
export const isTaken = (intent: PaymentIntent, { amount }: PaymentRequest): boolean =>
  intent.status === "succeeded" && intent.amountCaptured === amount

/**
 * Step 4: the provider takes what was set aside. An answer that is not all of it, or of a payment that was voided
 * meanwhile, is a failure like a refusal: whatever was taken goes back, and the shopper is asked for all of it again.
 */
export const capture = Effect.fn("Checkout.capture")(function*(
  adapter: PaymentAdapter,
  request: PaymentRequest,
  intentId: string
) {
  const intent = yield* asked(adapter.capture(intentId, request.amount, captureKey(request))).pipe(
    Effect.mapError((error) => CheckoutFailed.of(`Payment capture failed: ${error.message}`))
  )
  if (isTaken(intent, request)) return intent
  yield* Effect.logError(`payment ${intentId} was not captured in full`, intent)
  return yield* CheckoutFailed.of("Payment capture failed: the amount was not taken in full.")
})

/** Compensation of an authorization, and of a capture whose outcome is unknown: whatever was taken goes back. */
export const voidPayment = Effect.fn("Checkout.voidPayment")(function*(
  adapter: PaymentAdapter,
  request: PaymentRequest,
  intentId: string
) {
  yield* asked(adapter.cancel(intentId, `${request.idempotencyKey}:cancel`)).pipe(
    Effect.catch(() => voidLater(adapter, request, intentId))
  )
})
