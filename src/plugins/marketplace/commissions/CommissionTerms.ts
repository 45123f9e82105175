import { Schema } from "effect"
import { Uuid } from "stoa/plugin"

/**
 * What the store keeps of a line: a share in basis points, an amount on top, and the bounds of both together. Amounts in
 * minor units of the order's currency; null is no bound.
 */
export const CommissionTerms = Schema.Struct({
  ruleId: Schema.NullOr(Uuid),
  rateBps: Schema.Int,
  fixedFeeCents: Schema.Int,
  minFeeCents: Schema.NullOr(Schema.Int),
  maxFeeCents: Schema.NullOr(Schema.Int)
})
export type CommissionTerms = typeof CommissionTerms.Type

/** The terms of a plain share. */
export const plainTerms = (rateBps: number): CommissionTerms => ({
  ruleId: null,
  rateBps,
  fixedFeeCents: 0,
  minFeeCents: null,
  maxFeeCents: null
})

/** `part / whole` of an amount from 0 up, rounded half to even: ties go to neither side in the long run. Minor units. */
export const shareOf = (amount: number, part: number, whole: number): number => {
  if (whole === 0) return 0
  const [dividend, divisor] = [BigInt(amount) * BigInt(part), BigInt(whole)]
  const [down, rest] = [dividend / divisor, dividend % divisor]
  const twice = rest * 2n
  return Number(twice > divisor || (twice === divisor && down % 2n === 1n) ? down + 1n : down)
}

/** The commission of a line that was charged so much; never above that, never below 0 (contract, plugins §1.4). */
export const commissionOf = (charged: number, terms: CommissionTerms): number => {
  const wanted = shareOf(charged, terms.rateBps, 10_000) + terms.fixedFeeCents
  const bounded = Math.min(Math.max(wanted, terms.minFeeCents ?? 0), terms.maxFeeCents ?? wanted + charged)
  return Math.min(Math.max(bounded, 0), charged)
}
