import { Effect, Schema } from "effect"
import type { StoredOrder } from "../../domain/orders/Order.ts"
import type { PaymentAdapter, PaymentRequest } from "../../domain/payments/PaymentAdapter.ts"
import { isTaken } from "./PaymentStep.ts"

/** What a provider says to a capture: the money that was taken, minor units; or why it never will be. */
export const CaptureAnswer = Schema.Union([
  Schema.TaggedStruct("Taken", { amount: Schema.Int }),
  Schema.TaggedStruct("Refused", { message: Schema.String })
])

/** One try of a capture by this key; an answer that is not all that was asked for is a refusal. */
export const askCapture = (adapter: PaymentAdapter, request: PaymentRequest, intentId: string, key: string) =>
  adapter.capture(intentId, request.amount, key).pipe(
    Effect.map((intent) =>
      isTaken(intent, request)
        ? { _tag: "Taken" as const, amount: intent.amountCaptured }
        : { _tag: "Refused" as const, message: `${intent.status}, ${intent.amountCaptured} of ${request.amount} taken` }
    ),
    Effect.catchTag("PaymentDeclined", ({ message }) => Effect.succeed({ _tag: "Refused" as const, message }))
  )

/**
 * What the provider was asked for when the order was placed, or `amount` of it (minor units); the instrument is not
 * needed for a payment that it knows.
 */
export const paymentRequestOf = ({ cartId, order }: StoredOrder, amount = order.grandTotal): PaymentRequest => ({
  amount,
  currency: order.currency,
  orderId: order.id,
  customerId: order.customerId,
  paymentMethodToken: null,
  metadata: { orderId: order.id, organizationId: order.organizationId, checkoutId: order.id, cartId: cartId ?? "" },
  idempotencyKey: order.id
})
