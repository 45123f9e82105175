import type { CommissionRule } from "./CommissionRule.ts"

/**
 * What the store keeps of a line: a share in basis points, an amount on top, and the bounds of both together. Amounts in
 * minor units of the order's currency; null is no bound.
 */
export type CommissionTerms =
  & Pick<CommissionRule, "rateBps" | "fixedFeeCents" | "minFeeCents" | "maxFeeCents">
  & { readonly ruleId: string | null }

/** The terms of a plain share. */
export const plainTerms = (rateBps: number): CommissionTerms => (
  { ruleId: null, rateBps, fixedFeeCents: 0, minFeeCents: null, maxFeeCents: null }
)

const termsOf = ({ fixedFeeCents, id, maxFeeCents, minFeeCents, rateBps }: CommissionRule): CommissionTerms => (
  { ruleId: id, rateBps, fixedFeeCents, minFeeCents, maxFeeCents }
)

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

/** A line that is sold, as far as its commission goes by it. */
export interface Sale {
  readonly vendorId: string
  /** The vendor's rate; null only when the vendor's row is gone. */
  readonly tier: string | null
  readonly commissionRateBps: number | null
  /** Slugs of the line's categories and of all above them; the number of steps up, 0 for the line's category. */
  readonly categories: ReadonlyMap<string, number>
  /** What the vendor sold in the thirty days before, minor units of the order's currency. */
  readonly volumeCents: number
  readonly at: Date
}

/** Whether the rule has something to say of the sale; a field that it leaves open admits everything. Bounds are inclusive, but `validUntil`. */
const applies = (rule: CommissionRule, sale: Sale): boolean =>
  rule.isActive &&
  (rule.vendorId === null || rule.vendorId === sale.vendorId) &&
  (rule.categorySlug === null || sale.categories.has(rule.categorySlug)) &&
  (rule.vendorTier === null || rule.vendorTier === sale.tier) &&
  (rule.minVolumeCents === null || rule.minVolumeCents <= sale.volumeCents) &&
  (rule.maxVolumeCents === null || sale.volumeCents <= rule.maxVolumeCents) &&
  (rule.validFrom === null || rule.validFrom <= sale.at) &&
  (rule.validUntil === null || sale.at < rule.validUntil)

/** Vendor and category, vendor, category, tier, volume: the smaller number is the closer rule. */
const specificity = ({ type, vendorId }: CommissionRule): number => {
  if (type === "category") return vendorId === null ? 2 : 0
  if (vendorId !== null) return 1
  return type === "vendor_tier" ? 3 : 4
}

const distance = ({ categorySlug, type }: CommissionRule, sale: Sale): number =>
  type === "category" && categorySlug !== null ? sale.categories.get(categorySlug) ?? 0 : 0

const byAge = (one: CommissionRule, other: CommissionRule): number =>
  other.priority - one.priority || other.createdAt.getTime() - one.createdAt.getTime() ||
  (one.id < other.id ? -1 : 1)

/**
 * The terms of a line's commission (contract, plugins §1.4). The closest rule counts, of several the one of the closest
 * category, then of the highest priority, then the newest. Without any, the vendor's own rate, or `fallbackBps`, which
 * both have priority 0. A promotion takes the place of these if its share is lower, or its priority is higher.
 */
export const chooseCommission = (
  rules: ReadonlyArray<CommissionRule>,
  sale: Sale,
  fallbackBps: number
): CommissionTerms => {
  const fitting = rules.filter((rule) => applies(rule, sale))
  const [standing] = fitting.filter(({ type }) => type !== "promotional").toSorted((one, other) =>
    specificity(one) - specificity(other) || distance(one, sale) - distance(other, sale) || byAge(one, other)
  )
  const base = standing === undefined ? plainTerms(sale.commissionRateBps ?? fallbackBps) : termsOf(standing)
  const promotion = fitting.filter(({ type }) => type === "promotional").toSorted(byAge).find((rule) =>
    rule.rateBps < base.rateBps || rule.priority > (standing?.priority ?? 0)
  )
  return promotion === undefined ? base : termsOf(promotion)
}
