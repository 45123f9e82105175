import { Effect, Schema } from "effect"
import { allocate, MinorUnits, OrderLineId } from "stoa/plugin"
import { commissionOf, type CommissionTerms, shareOf } from "../commissions/CommissionTerms.ts"

/** A line of an order as it is by now; amounts in minor units of the order's currency. */
export const FulfillableLine = Schema.Struct({
  id: OrderLineId,
  totalPrice: MinorUnits,
  discountAmount: MinorUnits,
  taxAmount: MinorUnits,
  /** Given back by refunds that name it, on its way or arrived. */
  givenBack: Schema.Int
})
type FulfillableLine = typeof FulfillableLine.Type

/** An order as it is by now, with all of its lines in their order: those of the store count where amounts are split. */
export const SoldOrder = Schema.Struct({
  /** Prices contain the tax. */
  taxIncluded: Schema.Boolean,
  shippingTotal: MinorUnits,
  /** Null while nothing was taken. */
  captured: Schema.NullOr(Schema.Int),
  /** Given back in all, on its way or arrived; and of it what refunds name as shipping. */
  givenBack: Schema.Int,
  shippingGivenBack: Schema.Int,
  lines: Schema.Array(FulfillableLine)
})
export type SoldOrder = typeof SoldOrder.Type

/** What of a line its vendor sold: what was charged, without tax, and how much of it went back. */
export interface LineShare {
  readonly charged: number
  readonly refunded: number
}

/** What a line costs its buyer. */
const worthOf = ({ discountAmount, taxAmount, totalPrice }: FulfillableLine, taxIncluded: boolean): number =>
  totalPrice - discountAmount + (taxIncluded ? 0 : taxAmount)

/** What of that is the vendor's sale: all but the tax. */
const saleOf = ({ discountAmount, taxAmount, totalPrice }: FulfillableLine, taxIncluded: boolean): number =>
  totalPrice - discountAmount - (taxIncluded ? taxAmount : 0)

/**
 * What each line was charged and what of it went back. Refunds that name lines count for them; what names none (an amount,
 * an order that became `refunded`, money that the provider gave back) is split over what is left of lines, shipping and
 * the rest of the payment by the largest remainder, so that a payment that went back as a whole leaves nothing of any line.
 * Of an order whose payment was captured in part, each line was charged its share of that, as refunds have it.
 */
export const lineShares = (order: SoldOrder): ReadonlyMap<string, LineShare> => {
  const worths = order.lines.map((line) => worthOf(line, order.taxIncluded))
  const whole = worths.reduce((sum, worth) => sum + worth, order.shippingTotal)
  const captured = order.captured ?? whole
  const shares = allocate(Math.min(captured, whole), [...worths, order.shippingTotal])
  const named = order.lines.map(({ givenBack }, index) => Math.min(givenBack, shares[index] ?? 0))
  const ofLines = shares.slice(0, order.lines.length).reduce((sum, share) => sum + share, 0)
  const left = [
    ...named.map((back, index) => (shares[index] ?? 0) - back),
    Math.max(0, captured - ofLines - order.shippingGivenBack)
  ]
  const open = left.reduce((sum, part) => sum + part, 0)
  const unnamed = order.givenBack - order.shippingGivenBack - order.lines.reduce((sum, line) => sum + line.givenBack, 0)
  const parts = allocate(Math.min(Math.max(0, unnamed), open), left)
  return new Map(order.lines.map((line, index) => {
    const [worth = 0, share = 0] = [worths[index], shares[index]]
    const sale = saleOf(line, order.taxIncluded)
    const charged = share === worth ? sale : shareOf(sale, share, worth)
    const back = (named[index] ?? 0) + (parts[index] ?? 0)
    return [line.id, { charged, refunded: back === share ? charged : shareOf(charged, back, share) }]
  }))
}

/** A line of a sub-order as it has to be. */
export interface OwedLine extends LineShare {
  /** Of the whole line, before refunds. */
  readonly commission: number
}

/** A line of a sub-order that is cancelled, or whose order is, is owed nothing: what came of its refund is the store's matter. */
export const owedLine = (
  { charged, refunded }: LineShare,
  terms: CommissionTerms,
  isCancelled: boolean
): OwedLine => ({ charged, refunded: isCancelled ? charged : refunded, commission: commissionOf(charged, terms) })

/** Amounts of a sub-order, minor units; `payout = subtotal - refunded - commission`. */
export interface Owed {
  readonly subtotal: number
  readonly refunded: number
  /** Of what was not given back. */
  readonly commission: number
  /** Of everything that was sold. */
  readonly fullCommission: number
  readonly payout: number
}

const total = (numbers: ReadonlyArray<number>): number => numbers.reduce((sum, one) => sum + one, 0)

/**
 * What a sub-order comes to. The commission of what went back of a line goes back in proportion, counted from all that went
 * back of it so far, so nothing of it is left with the last unit.
 */
export const owedOf = (lines: ReadonlyArray<OwedLine>): Owed => {
  const [subtotal, refunded] = [total(lines.map(({ charged }) => charged)), total(lines.map((line) => line.refunded))]
  const fullCommission = total(lines.map(({ commission }) => commission))
  const commission = total(lines.map((line) => shareOf(line.commission, line.charged - line.refunded, line.charged)))
  return { subtotal, refunded, commission, fullCommission, payout: subtotal - refunded - commission }
}

const sum = Schema.Int.pipe(Schema.withDecodingDefaultKey(Effect.succeed(0)))

/** Sums of a sub-order's entries in the ledger by type, signed minor units; of a type without entries 0. */
export const Posted = Schema.Struct({ sale: sum, commission: sum, refund_deduction: sum, commission_reversal: sum })
export type Posted = typeof Posted.Type

export const nothingPosted: Posted = { sale: 0, commission: 0, refund_deduction: 0, commission_reversal: 0 }

/**
 * What has to be posted for the ledger to say what is owed: nothing before the order is captured, the sale and its
 * commission from then on, and beside them what went back of both. An order that was cancelled before it was captured never
 * reaches the ledger, also when its payment is captured by mistake later.
 */
export const dueEntries = (
  owed: Owed,
  posted: Posted,
  { isCancelled, isCaptured }: { readonly isCancelled: boolean; readonly isCaptured: boolean }
): Posted => {
  if (!isCaptured || (isCancelled && posted.sale === 0)) return nothingPosted
  return {
    sale: owed.subtotal - posted.sale,
    commission: -owed.fullCommission - posted.commission,
    refund_deduction: -owed.refunded - posted.refund_deduction,
    commission_reversal: owed.fullCommission - owed.commission - posted.commission_reversal
  }
}
