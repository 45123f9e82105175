import { Option } from "effect"
import type Stripe from "stripe"
import type { IntentStatus, PaymentIntent } from "../../domain/payments/PaymentAdapter.ts"
import { exponentOf, isCurrencyCode } from "../../domain/platform/money/Money.ts"

/** Stripe's units differ from ISO 4217: ISK and UGX have two decimals, always 00; MGA has none. */
const stripeExponents: ReadonlyMap<string, number> = new Map([["ISK", 2], ["UGX", 2], ["MGA", 0]])

const exponents = (currency: string) => {
  const code = currency.toUpperCase()
  const ours = isCurrencyCode(code) ? exponentOf(code) : 2
  return { ours, theirs: stripeExponents.get(code) ?? ours }
}

/**
 * Stripe's units; none when it cannot represent the amount: a fraction of an ariary, or a last digit other than 0 of
 * three decimals. Nothing is rounded.
 */
export const toStripe = (amount: number, currency: string): Option.Option<number> => {
  const { ours, theirs } = exponents(currency)
  if (theirs === 3) return amount % 10 === 0 ? Option.some(amount) : Option.none()
  const least = 10 ** Math.max(0, ours - theirs)
  if (amount % least !== 0) return Option.none()
  const units = amount / least * 10 ** Math.max(0, theirs - ours)
  return Number.isSafeInteger(units) ? Option.some(units) : Option.none()
}

export const fromStripe = (units: number, currency: string): number => {
  const { ours, theirs } = exponents(currency)
  return Math.floor(units * 10 ** Math.max(0, ours - theirs) / 10 ** Math.max(0, theirs - ours))
}

/**
 * Requires action: without an instrument, without authentication, or processing at the bank, since its result comes as
 * an event too.
 */
const statusOf = (status: Stripe.PaymentIntent.Status): IntentStatus => {
  const known: ReadonlyArray<IntentStatus> = ["requires_capture", "succeeded", "canceled"]
  return known.find((one) => one === status) ?? "requires_action"
}

export const intentOf = (intent: Stripe.PaymentIntent): PaymentIntent => ({
  id: intent.id,
  status: statusOf(intent.status),
  amount: fromStripe(intent.amount, intent.currency),
  currency: intent.currency.toUpperCase(),
  clientSecret: intent.client_secret,
  redirectUrl: intent.next_action?.redirect_to_url?.url ?? null,
  amountCaptured: fromStripe(intent.amount_received, intent.currency)
})

/** Stripe has no payments of 0: authorized and captured here, under an id from the key. */
export const freeId = (key: string): string => `free_${key}`
export const isFree = (intentId: string): boolean => intentId.startsWith("free_")

export const free = (id: string, currency: string, status: IntentStatus): PaymentIntent => ({
  id,
  status,
  amount: 0,
  currency,
  clientSecret: null,
  amountCaptured: 0
})
