import type Stripe from "stripe"
import type { IntentStatus, PaymentIntent } from "../../domain/payments/PaymentAdapter.ts"
import { fromStripe } from "./StripeMoney.ts"

/**
 * Maps Stripe's states. A payment without an instrument or without the shopper's authentication requires action; so does
 * one that the bank is processing, since its result also comes as an event.
 */
const statusOf = (status: Stripe.PaymentIntent.Status): IntentStatus => {
  const known: ReadonlyArray<IntentStatus> = ["requires_capture", "succeeded", "canceled"]
  return known.find((one) => one === status) ?? "requires_action"
}

/** A payment with amounts in minor units of its currency. */
export const intentOf = (intent: Stripe.PaymentIntent): PaymentIntent => ({
  id: intent.id,
  status: statusOf(intent.status),
  amount: fromStripe(intent.amount, intent.currency),
  currency: intent.currency.toUpperCase(),
  clientSecret: intent.client_secret,
  amountCaptured: fromStripe(intent.amount_received, intent.currency)
})

/**
 * Stripe has no payments of 0, but an order may cost nothing: it is authorized and captured here, under an id derived
 * from the key.
 */
export const freeId = (key: string): string => `free_${key}`
/** Whether this is the id of a payment of 0. */
export const isFree = (intentId: string): boolean => intentId.startsWith("free_")

/** A payment of 0 in this status. */
export const free = (id: string, currency: string, status: IntentStatus): PaymentIntent => ({
  id,
  status,
  amount: 0,
  currency,
  clientSecret: null,
  amountCaptured: 0
})
