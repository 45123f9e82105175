import { payable } from "../checkout/Totals.ts"
import { allocate } from "../money/Money.ts"

/** The parts of an order line a refund is calculated from; amounts in minor units. */
export interface RefundableLine {
  readonly id: string
  readonly sellable: string
  readonly quantity: number
  readonly refundedQuantity: number
  /** What the refunded units were worth. */
  readonly refundedValue: number
  readonly totalPrice: number
  readonly discountAmount: number
  readonly taxAmount: number
  /** Units that were neither handed over nor refunded. */
  readonly unsent: number
}

/** The parts of an order a refund is calculated from; amounts in minor units of its currency. */
export interface RefundableOrder {
  readonly currency: string
  readonly captured: number
  /** Its payment is authorized and not captured: what a unit is worth is not decided yet. */
  readonly uncaptured: boolean
  /** Given back already, and on its way back. */
  readonly refunded: number
  readonly pending: number
  readonly shippingTotal: number
  readonly refundedShipping: number
  /** The prices of the lines contain the tax. */
  readonly taxIncluded: boolean
  readonly lines: ReadonlyArray<RefundableLine>
}

/** What was captured for each line, and for the shipping. */
export interface CapturedShares {
  readonly lines: ReadonlyMap<string, number>
  readonly shipping: number
}

const costOf = ({ discountAmount, taxAmount, totalPrice }: RefundableLine, taxIncluded: boolean): number =>
  payable({ total: totalPrice, discount: discountAmount, tax: taxAmount, taxIncluded })

/**
 * Splits the captured amount over lines and shipping by their cost, by the largest remainder. If everything was
 * captured, a share is the cost itself, `totalPrice - discountAmount + taxAmount` (without the tax if prices include
 * it). The shares add up to the capture, or to the total cost if that is less (contract §4.3, §12.3).
 */
export const capturedShares = (order: RefundableOrder): CapturedShares => {
  const costs = [...order.lines.map((line) => costOf(line, order.taxIncluded)), order.shippingTotal]
  const whole = costs.reduce((sum, cost) => sum + cost, 0)
  const shares = allocate(Math.min(order.captured, whole), costs)
  return {
    lines: new Map(order.lines.map((line, index) => [line.id, shares[index] ?? 0])),
    shipping: shares[order.lines.length] ?? 0
  }
}

/**
 * The share of the first `units` of a line. Rounded half up on the running total, so that the last unit takes the rest.
 */
const upTo = (share: number, units: number, quantity: number): number =>
  Number((2n * BigInt(share) * BigInt(units) + BigInt(quantity)) / (2n * BigInt(quantity)))

/**
 * The worth of the next `units` of a line: the share of all units refunded by then, minus the worth of the earlier
 * ones. Units refunded one by one, in any order and also after failed refunds, add up exactly to the line's share.
 * Minor units; never negative.
 */
export const nextValue = (line: RefundableLine, share: number, units: number): number =>
  Math.max(0, upTo(share, line.refundedQuantity + units, line.quantity) - line.refundedValue)

/** What can still be given back of an order: captured, and neither given back nor on its way. */
export const capOf = ({ captured, pending, refunded }: RefundableOrder): number =>
  Math.max(0, captured - refunded - pending)
