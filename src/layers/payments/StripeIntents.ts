import type Stripe from "stripe"
import type { IntentStatus, PaymentIntent } from "../../domain/payments/PaymentAdapter.ts"
import { fromStripe } from "./StripeMoney.ts"

/**
 * Stripe's states in ours. A payment that has no instrument yet, or whose shopper has to prove himself, waits for him;
 * so does one that the bank is still thinking about, since its end comes as an event as well.
 */
const statusOf = (status: Stripe.PaymentIntent.Status): IntentStatus => {
  const known: ReadonlyArray<IntentStatus> = ["requires_capture", "succeeded", "canceled"]
  return known.find((one) => one === status) ?? "requires_action"
}

/** A payment of Stripe's as our side knows it; amounts in minor units of its currency. */
export const intentOf = (intent: Stripe.PaymentIntent): PaymentIntent => ({
  id: intent.id,
  status: statusOf(intent.status),
  amount: fromStripe(intent.amount, intent.currency),
  currency: intent.currency.toUpperCase(),
  clientSecret: intent.client_secret,
  amountCaptured: fromStripe(intent.amount_received, intent.currency)
})

/**
 * Stripe makes no payment of nothing, and an order may cost nothing: that is authorized and captured here, under an id
 * that follows from the key.
 */
export const freeId = (key: string): string => `free_${key}`
/** Whether a payment is one of nothing. */
export const isFree = (intentId: string): boolean => intentId.startsWith("free_")

/** A payment of nothing in that status. */
export const free = (id: string, currency: string, status: IntentStatus): PaymentIntent => ({
  id,
  status,
  amount: 0,
  currency,
  clientSecret: null,
  amountCaptured: 0
})
