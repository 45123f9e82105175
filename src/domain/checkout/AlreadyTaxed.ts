import { Effect } from "effect"
import type { CurrentActor } from "../platform/access/Actor.ts"
import type { CheckoutFailed } from "../platform/errors/ApiErrors.ts"
import type { CustomerId } from "../platform/ids/Id.ts"
import { allocate, roundHalfUp } from "../platform/money/Money.ts"
import type { OrderTotals } from "../pricing/Totals.ts"
import type { Taxable } from "../tax/TaxRules.ts"
import type { PricedLine } from "./PricedLines.ts"

/**
 * Asks for the part of an order that stored value pays which was taxed when it was sold. `most` is the part that stored
 * value may pay, without tax on top.
 */
export type AlreadyTaxed = (
  payable: { readonly customerId: CustomerId | null; readonly most: number }
) => Effect.Effect<number, CheckoutFailed, CurrentActor>

export const nothingTaxed: AlreadyTaxed = () => Effect.succeed(0)

/** The parts that stored value may pay: of each line, and last of shipping. Without tax on top. */
export const payableParts = (
  { lines, shippingTotal }: OrderTotals<PricedLine & { readonly key: string }>
): ReadonlyArray<number> => [
  ...lines.map(({ discountAmount, payableWithStoredValue, totalPrice }) =>
    payableWithStoredValue ? totalPrice - discountAmount : 0
  ),
  shippingTotal
]

/** Spreads what was taxed before over the payable parts, and takes its share of each off the taxable amount. */
export const withoutTaxed = (taxable: Taxable, payable: ReadonlyArray<number>, alreadyTaxed: number): Taxable => {
  if (alreadyTaxed === 0) return taxable
  const shares = allocate(alreadyTaxed, payable)
  const rest = (amount: number, index: number) => {
    const [part, share] = [payable[index] ?? 0, shares[index] ?? 0]
    return share === 0 ? amount : Number(roundHalfUp(BigInt(amount) * BigInt(part - share), BigInt(part)))
  }
  return {
    ...taxable,
    lines: taxable.lines.map((line, index) => ({ ...line, amount: rest(line.amount, index) })),
    shippingTotal: rest(taxable.shippingTotal, taxable.lines.length)
  }
}
