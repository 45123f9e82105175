import { Option } from "effect"
import { exponentOf, isCurrencyCode } from "../../domain/money/Currency.ts"

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
