import { Option } from "effect"
import type Stripe from "stripe"
import type { IntentStatus, PaymentIntent } from "../../domain/payments/PaymentAdapter.ts"
import { exponentOf, isCurrencyCode } from "../../domain/platform/money/Money.ts"

/**
 * Currencies that Stripe counts in other units than ISO 4217 does. The króna and the Ugandan shilling have no decimals
 * and Stripe takes them with two, which are always 00; the ariary has two and Stripe takes whole ones.
 */
const stripeExponents: ReadonlyMap<string, number> = new Map([["ISK", 2], ["UGX", 2], ["MGA", 0]])

const exponents = (currency: string) => {
  const code = currency.toUpperCase()
  const ours = isCurrencyCode(code) ? exponentOf(code) : 2
  return { ours, theirs: stripeExponents.get(code) ?? ours }
}

/**
 * Minor units as Stripe counts them; none when Stripe cannot represent the amount: a fraction of an ariary, or a last
 * digit other than 0 of a currency with three decimals. Nothing is rounded.
 */
export const toStripe = (amount: number, currency: string): Option.Option<number> => {
  const { ours, theirs } = exponents(currency)
  if (theirs === 3) return amount % 10 === 0 ? Option.some(amount) : Option.none()
  const least = 10 ** Math.max(0, ours - theirs)
  if (amount % least !== 0) return Option.none()
  const units = amount / least * 10 ** Math.max(0, theirs - ours)
  return Number.isSafeInteger(units) ? Option.some(units) : Option.none()
}

/** The reverse: minor units of the currency, rounded down. */
export const fromStripe = (units: number, currency: string): number => {
  const { ours, theirs } = exponents(currency)
  return Math.floor(units * 10 ** Math.max(0, ours - theirs) / 10 ** Math.max(0, theirs - ours))
}

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
