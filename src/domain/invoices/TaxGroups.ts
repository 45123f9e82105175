import type { InvoiceContent } from "./InvoiceContent.ts"

/** Tax of all lines of one rate. */
export interface TaxGroup {
  /** In tenths of a percent, inferred from the amounts; null for the tax of no line: tax on shipping. */
  readonly rate: number | null
  /** Minor units before tax. */
  readonly net: number
  readonly tax: number
}

/** A line's tax is an integer of minor units and may include one from a remainder. */
const tolerance = 1.5

const rateOf = (net: number, tax: number): number => (net === 0 ? 0 : Math.round((tax / net) * 1_000))

/**
 * The tax of an order by rate, largest first; the groups add up to the order's tax. Lines do not store their rate, so
 * it is inferred: a line belongs to a rate that explains its tax to the unit. The tax of no line is the tax on
 * shipping.
 */
export const taxGroups = (content: InvoiceContent): ReadonlyArray<TaxGroup> => {
  const taxed = content.lines
    .map(({ amount, tax }) => ({ net: amount - tax, tax }))
    .toSorted((one, other) => other.net - one.net)
  const groups: Array<{ rate: number; net: number; tax: number }> = []
  for (const { net, tax } of taxed) {
    const group = groups.find(({ rate }) => Math.abs((net * rate) / 1_000 - tax) <= tolerance)
    if (group === undefined) groups.push({ rate: rateOf(net, tax), net, tax })
    else {
      group.net += net
      group.tax += tax
    }
  }
  const rest = content.taxTotal - groups.reduce((sum, { tax }) => sum + tax, 0)
  const shipping = rest === 0
    ? []
    : [{ rate: null, net: content.shippingTotal - (content.taxIncluded ? rest : 0), tax: rest }]
  const byTax = groups.filter(({ tax }) => tax !== 0).toSorted((one, other) => other.tax - one.tax)
  return [...byTax, ...shipping]
}
