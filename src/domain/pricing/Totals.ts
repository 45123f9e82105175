import { Data, Result } from "effect"
import { allocate, type AmountOutOfRange, type Minor, minor, sum, times } from "../platform/money/Money.ts"
import { perLine, type PriceSteps } from "./PriceSteps.ts"

export interface TotalsLine {
  readonly key: string
  readonly quantity: number
  readonly unitPrice: number
  /** Steps of a unit are in `unitPrice`; those of the line are added to its total. */
  readonly addedSteps?: PriceSteps
  /** Stored value: neither what discounts leave over nor tax of shipping is spread over it. */
  readonly storedValue?: boolean
}

/** A discount on the order, or on the lines at the given indices only. Minor units, not negative. */
export interface TotalsDiscount {
  readonly amount: number
  readonly eligibleLines?: ReadonlyArray<number> | null
}

/** Minor units; 0 <= discountAmount <= totalPrice. */
export interface LineTotals {
  readonly totalPrice: Minor
  readonly discountAmount: Minor
  readonly taxAmount: Minor
}

/** All amounts in minor units of one currency. */
export interface TotalsInput<L extends TotalsLine> {
  readonly currency: string
  readonly lines: ReadonlyArray<L>
  /** In order of application. Together they are limited to the subtotal. */
  readonly discounts: ReadonlyArray<TotalsDiscount>
  readonly shippingTotal: number
  readonly lineTaxes?: ReadonlyArray<number>
  /** Absent: the sum of lineTaxes. The excess over lineTaxes (tax of shipping) is spread over lines. */
  readonly taxTotal?: number
  /** The total does not add the tax. Default false. */
  readonly taxIncluded?: boolean
}

/** The lines always add up to subtotal, discountTotal and taxTotal (contract 3.3). */
export interface OrderTotals<L extends TotalsLine> {
  readonly currency: string
  readonly lines: ReadonlyArray<L & LineTotals>
  readonly subtotal: Minor
  readonly discountTotal: Minor
  readonly taxTotal: Minor
  readonly taxIncluded: boolean
  readonly shippingTotal: Minor
  readonly grandTotal: Minor
}

/** The input is not an order: a fractional quantity, or tax without a line. */
export class TotalsRefused extends Data.TaggedError("TotalsRefused")<{ readonly reason: string }> {
  override get message(): string {
    return this.reason
  }
}

type Refusal = TotalsRefused | AmountOutOfRange

const refuse = (reason: string) => Result.fail(new TotalsRefused({ reason }))

const minors = (amounts: ReadonlyArray<number>, subject: string) =>
  Result.all(amounts.map((amount) => minor(amount, subject)))

const minorSum = (amounts: ReadonlyArray<number>, subject: string) =>
  Result.flatMap(sum(amounts, subject), (total) => minor(total, subject))

const total = (amounts: ReadonlyArray<number>): number => amounts.reduce((left, right) => left + right, 0)

/**
 * Allocates discounts to lines by the largest remainder (contract 3.3): first discounts of certain lines, then those of
 * the order, each over the remaining prices, so that no line becomes negative. The part of a line discount that its
 * lines cannot take, because they are free already, is spread over the order. The result adds up to min(sum of
 * discounts, sum of totals). Lines that are apart take discounts of their own only. All amounts are minor units and not negative; indices refer to `totals`.
 */
export const allocateDiscounts = (
  totals: ReadonlyArray<number>,
  discounts: ReadonlyArray<TotalsDiscount>,
  isApart: (index: number) => boolean = () => false
): ReadonlyArray<number> => {
  const remaining = [...totals]
  let unspent = total(totals)
  let orderDiscount = 0
  for (const { amount, eligibleLines = null } of discounts) {
    const granted = Math.min(amount, unspent)
    unspent -= granted
    const eligible = new Set(eligibleLines)
    const weights = remaining.map((cost, index) => eligible.has(index) ? cost : 0)
    const onLines = Math.min(granted, total(weights))
    if (onLines > 0) {
      allocate(onLines, weights).forEach((part, index) => remaining[index] = (remaining[index] ?? 0) - part)
    }
    orderDiscount += granted - onLines
  }
  const goods = remaining.map((cost, index) => isApart(index) ? 0 : cost)
  const parts = allocate(Math.min(orderDiscount, total(goods)), goods)
  return totals.map((cost, index) => cost - (remaining[index] ?? 0) + (parts[index] ?? 0))
}

const taxPerLine = (
  lineTaxes: ReadonlyArray<number>,
  taxTotal: number,
  totals: ReadonlyArray<number>,
  discounts: ReadonlyArray<number>,
  isApart: (index: number) => boolean
): Result.Result<ReadonlyArray<number>, TotalsRefused> => {
  const rest = taxTotal - total(lineTaxes)
  if (rest < 0) return refuse("The tax of the lines exceeds the tax of the order.")
  if (rest > 0 && totals.length === 0) return refuse("Tax without a line.")
  const net = totals.map((cost, index) => cost - (discounts[index] ?? 0))
  const weights = [net, totals, totals.map(() => 1)].map((costs) =>
    costs.map((cost, index) => isApart(index) ? 0 : cost)
  )
  const parts = allocate(rest, weights.find((costs) => total(costs) > 0) ?? totals)
  return Result.succeed(lineTaxes.map((tax, index) => tax + (parts[index] ?? 0)))
}

/** The amount to pay after discount. Order totals and line refunds both use it: included tax has one meaning. */
export const payable = (
  { discount, taxIncluded, tax, total: before }: {
    readonly total: number
    readonly discount: number
    readonly tax: number
    readonly taxIncluded: boolean
  }
): number => before - discount + (taxIncluded ? 0 : tax)

const lineTotal = ({ addedSteps = [], quantity, unitPrice }: Omit<TotalsLine, "key">) =>
  Result.flatMap(times(unitPrice, quantity, "line total"), (units) => minor(units + perLine(addedSteps), "line total"))

const isWhole = (quantity: number): boolean => Number.isSafeInteger(quantity) && quantity >= 0

/**
 * The one pricing function of Stoa (contract 3.3), for carts, checkouts, edits and refunds. grandTotal = subtotal -
 * discountTotal + taxTotal + shippingTotal, without taxTotal where it is included. Refuses amounts that are negative,
 * fractional or beyond 2^53 - 1.
 */
export const orderTotals = <L extends TotalsLine>(input: TotalsInput<L>): Result.Result<OrderTotals<L>, Refusal> =>
  Result.gen(function*() {
    const { currency, lines, taxIncluded = false } = input
    if (!lines.every((line) => isWhole(line.quantity))) return yield* refuse("A quantity is not a whole number.")
    yield* minors(lines.map((line) => line.unitPrice), "unit price")
    const totals = yield* Result.all(lines.map(lineTotal))
    const subtotal = yield* minorSum(totals, "subtotal")
    yield* minors(input.discounts.map((discount) => discount.amount), "discount")
    const isApart = (index: number) => lines[index]?.storedValue === true
    const discounts = allocateDiscounts(totals, input.discounts, isApart)
    const discountTotal = yield* minorSum(discounts, "discount")
    const lineTaxes = yield* minors(input.lineTaxes ?? lines.map(() => 0), "tax")
    if (lineTaxes.length !== lines.length) return yield* refuse("The taxes of the lines do not match the lines.")
    const lineTaxTotal = yield* minorSum(lineTaxes, "tax")
    const taxTotal = yield* minor(input.taxTotal ?? lineTaxTotal, "tax")
    const taxes = yield* taxPerLine(lineTaxes, taxTotal, totals, discounts, isApart)
    const shippingTotal = yield* minor(input.shippingTotal, "shipping")
    // Subtract first: an inexact sum beyond 2^53 - 1 must not become a valid smaller one.
    const charged = payable({ total: subtotal, discount: discountTotal, tax: taxTotal, taxIncluded }) + shippingTotal
    const grandTotal = yield* minor(charged, "grand total")
    if (taxIncluded && taxTotal > grandTotal) return yield* refuse("The included tax exceeds the order.")
    const priced = yield* Result.all(lines.map((line, index) => lineTotals(line, totals, discounts, taxes, index)))
    return { currency, lines: priced, subtotal, discountTotal, taxTotal, taxIncluded, shippingTotal, grandTotal }
  })

const lineTotals = <L extends TotalsLine>(
  line: L,
  totals: ReadonlyArray<number>,
  discounts: ReadonlyArray<number>,
  taxes: ReadonlyArray<number>,
  index: number
): Result.Result<L & LineTotals, AmountOutOfRange> =>
  Result.gen(function*() {
    const totalPrice = yield* minor(totals[index] ?? 0, "line total")
    const discountAmount = yield* minor(discounts[index] ?? 0, "line discount")
    const taxAmount = yield* minor(taxes[index] ?? 0, "line tax")
    return { ...line, totalPrice, discountAmount, taxAmount }
  })
