import type { TaxRateId } from "../platform/ids/Id.ts"
import { allocate, roundHalfUp } from "../platform/money/Money.ts"
import { unitsOf, whole } from "./Percent.ts"

/** A rate as it is charged: a tax rate, or the rate of a class, which has no id. */
export interface ChargedRate {
  readonly rateId: TaxRateId | null
  readonly name: string
  /** Per cent; null where an external service says the tax. */
  readonly rate: string | null
  readonly compound: boolean
  readonly priority: number
}

/** What is taxed alike: a line, or shipping. Minor units. */
export interface TaxedAmount {
  readonly amount: number
  readonly rates: ReadonlyArray<ChargedRate>
}

/** The tax of one rate: what it is on, and its shares, by line and last of shipping. Minor units. */
export interface RateTax {
  readonly rate: ChargedRate
  readonly bases: ReadonlyArray<number>
  readonly amounts: ReadonlyArray<number>
}

/** Minor units. `taxTotal` is the lines' tax plus that of shipping. */
export interface Tax {
  readonly lineTaxes: ReadonlyArray<number>
  readonly taxTotal: number
  readonly rates: ReadonlyArray<RateTax>
}

const sum = (amounts: ReadonlyArray<number>): number => amounts.reduce((left, right) => left + right, 0)

const unitsOfRate = ({ rate }: ChargedRate): bigint => unitsOf(rate ?? "0")

const ordered = (rates: ReadonlyArray<ChargedRate>): ReadonlyArray<ChargedRate> =>
  [...new Set(rates)].sort((left, right) =>
    left.priority - right.priority || Number(left.compound) - Number(right.compound)
  )

/** Rounds each rate half up once, over all that it taxes; shares by the largest remainder. */
const added = (taxed: ReadonlyArray<TaxedAmount>): ReadonlyArray<RateTax> => {
  let before = taxed.map(() => 0)
  return ordered(taxed.flatMap(({ rates }) => rates)).map((rate) => {
    const bases = taxed.map(({ amount, rates }, index) =>
      rates.includes(rate) ? amount + (rate.compound ? before[index] ?? 0 : 0) : 0
    )
    const tax = Number(roundHalfUp(BigInt(sum(bases)) * unitsOfRate(rate), whole))
    // What is beyond all amounts is refused with the totals.
    const amounts = [tax, ...bases].every(Number.isSafeInteger) ? allocate(tax, bases) : bases.map(() => Infinity)
    before = before.map((tax, index) => tax + (amounts[index] ?? 0))
    return { rate, bases, amounts }
  })
}

/** The taxes within a gross amount, rate by rate. They add up to the part of all rates, rounded half up once. */
const within = (gross: number, rates: ReadonlyArray<ChargedRate>): ReadonlyArray<number> => {
  let [numerator, denominator] = [0n, 1n]
  const shares = rates.map((rate) => {
    numerator = numerator * whole + unitsOfRate(rate) * (rate.compound ? denominator + numerator : denominator)
    denominator *= whole
    return { numerator, denominator }
  })
  const upTo = shares.map((share) =>
    Number(roundHalfUp(
      BigInt(gross) * share.numerator * denominator,
      share.denominator * (denominator + numerator)
    ))
  )
  return upTo.map((tax, index) => tax - (upTo[index - 1] ?? 0))
}

/**
 * Rates of the same amounts together: the net is what is left, net and taxes are the price to the unit. No line's tax
 * exceeds its price.
 */
const containedIn = (places: ReadonlyArray<number>, taxed: ReadonlyArray<TaxedAmount>): ReadonlyArray<RateTax> => {
  const rates = ordered(taxed[places[0] ?? 0]?.rates ?? [])
  const amounts = places.map((place) => taxed[place]?.amount ?? 0)
  const taxes = within(sum(amounts), rates)
  let left = allocate(sum(taxes), amounts)
  const nets = amounts.map((amount, index) => amount - (left[index] ?? 0))
  let before = amounts.map(() => 0)
  return rates.map((rate, at) => {
    const shares = allocate(taxes[at] ?? 0, left)
    const bases = nets.map((net, index) => net + (rate.compound ? before[index] ?? 0 : 0))
    left = left.map((tax, index) => tax - (shares[index] ?? 0))
    before = before.map((tax, index) => tax + (shares[index] ?? 0))
    const atPlaces = (values: ReadonlyArray<number>) => taxed.map((_, place) => values[places.indexOf(place)] ?? 0)
    return { rate, bases: atPlaces(bases), amounts: atPlaces(shares) }
  })
}

const plus = (left: ReadonlyArray<number>, right: ReadonlyArray<number>) =>
  left.map((amount, index) => amount + (right[index] ?? 0))

/** Goods of the same rates are rounded together, shipping apart from them. */
const contained = (taxed: ReadonlyArray<TaxedAmount>): ReadonlyArray<RateTax> => {
  const all = ordered(taxed.flatMap(({ rates }) => rates))
  const groups = new Map<string, ReadonlyArray<number>>()
  for (const [place, { rates }] of taxed.entries()) {
    const isShipping = place === taxed.length - 1
    const key = `${isShipping} ${ordered(rates).map((rate) => all.indexOf(rate)).join()}`
    groups.set(key, [...groups.get(key) ?? [], place])
  }
  const parts = [...groups.values()].flatMap((places) => containedIn(places, taxed))
  return all.map((rate) =>
    parts.filter((part) => part.rate === rate).reduce((left, right) => ({
      rate,
      bases: plus(left.bases, right.bases),
      amounts: plus(left.amounts, right.amounts)
    }))
  )
}

/** Taxes lines and shipping, in exact arithmetic. */
export const taxAmounts = (
  lines: ReadonlyArray<TaxedAmount>,
  shipping: TaxedAmount,
  { included }: { readonly included: boolean }
): Tax => {
  const rates = (included ? contained : added)([...lines, shipping])
  return {
    lineTaxes: lines.map((_, index) => sum(rates.map(({ amounts }) => amounts[index] ?? 0))),
    taxTotal: sum(rates.flatMap(({ amounts }) => amounts)),
    rates
  }
}

/** A rate's share of a line, with its share of the tax of shipping. Minor units. */
export interface LineTaxShare {
  readonly rateId: TaxRateId | null
  readonly name: string
  readonly rate: string | null
  readonly base: number
  readonly amount: number
}

/**
 * The taxes of each line by rate, which add up to its `taxAmount`: that of the goods, and the part of shipping's, which the
 * totals have spread.
 */
export const lineTaxShares = (
  { lineTaxes, rates }: Tax,
  taxAmounts: ReadonlyArray<number>
): ReadonlyArray<ReadonlyArray<LineTaxShare>> => {
  if (taxAmounts.length === 0) return []
  let left = taxAmounts.map((amount, index) => amount - (lineTaxes[index] ?? 0))
  const weights = left
  const shares = rates.map(({ amounts, bases, rate: { name, rate, rateId } }) => {
    const spread = allocate(amounts[lineTaxes.length] ?? 0, left)
    left = left.map((amount, index) => amount - (spread[index] ?? 0))
    const shipped = allocate(bases[lineTaxes.length] ?? 0, weights)
    return taxAmounts.map((_, index) => ({
      rateId,
      name,
      rate,
      base: (bases[index] ?? 0) + (shipped[index] ?? 0),
      amount: (amounts[index] ?? 0) + (spread[index] ?? 0)
    }))
  })
  return taxAmounts.map((_, index) =>
    shares.flatMap((ofRate) => ofRate[index] ?? []).filter(({ amount, base }) => amount !== 0 || base !== 0)
  )
}
