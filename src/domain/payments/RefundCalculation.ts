import { Result, Schema } from "effect"
import { conflict, invalid } from "../platform/errors/ErrorKinds.ts"
import { OrderLineId, Uuid } from "../platform/ids/Id.ts"
import { allocate, Amount } from "../platform/money/Money.ts"
import { payable } from "../pricing/Totals.ts"
import type { RefundRequest } from "./Refund.ts"

/** Minor units. */
const RefundableLine = Schema.Struct({
  id: OrderLineId,
  sellable: Uuid,
  quantity: Schema.Int,
  refundedQuantity: Schema.Int,
  /** Units that came back and wait for the refund of their return. */
  returned: Schema.optional(Schema.Int),
  refundedValue: Amount,
  totalPrice: Amount,
  discountAmount: Amount,
  taxAmount: Amount,
  /** Units that were neither handed over nor refunded. */
  unsent: Schema.Int
})
export type RefundableLine = typeof RefundableLine.Type

/** Minor units. */
export const RefundableOrder = Schema.Struct({
  currency: Schema.String,
  captured: Amount,
  uncaptured: Schema.Boolean,
  refunded: Amount,
  pending: Amount,
  shippingTotal: Amount,
  refundedShipping: Amount,
  taxIncluded: Schema.Boolean,
  lines: Schema.Array(RefundableLine)
})
export type RefundableOrder = typeof RefundableOrder.Type

export interface CapturedShares {
  readonly lines: ReadonlyMap<string, number>
  readonly shipping: number
}

const costOf = ({ discountAmount, taxAmount, totalPrice }: RefundableLine, taxIncluded: boolean): number =>
  payable({ total: totalPrice, discount: discountAmount, tax: taxAmount, taxIncluded })

/**
 * Splits the captured amount over lines and shipping by cost, by the largest remainder (contract §4.3, §12.3). After a
 * full capture a share is `totalPrice - discountAmount + taxAmount` (without the tax if prices include it). The shares
 * add up to the capture, or to the total cost if that is less.
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

/** Rounded half up on the running total: the last unit takes the rest. */
const upTo = (share: number, units: number, quantity: number): number =>
  Number((2n * BigInt(share) * BigInt(units) + BigInt(quantity)) / (2n * BigInt(quantity)))

/**
 * The worth of the next units: the share of all units refunded by then, minus the worth of the earlier ones. Units
 * refunded one by one, in any order and also after failed refunds, add up exactly to the line's share.
 */
export const nextValue = (line: RefundableLine, share: number, units: number): number =>
  Math.max(0, upTo(share, line.refundedQuantity + units, line.quantity) - line.refundedValue)

/** The captured money that was not given back. */
export const restOf = ({ captured, pending, refunded }: RefundableOrder): number =>
  Math.max(0, captured - refunded - pending)

export const refundableUnits = ({ quantity, refundedQuantity, returned = 0 }: RefundableLine): number =>
  Math.max(0, quantity - refundedQuantity - returned)

/** The most that a refund can give back: the rest, without the worth of units whose return will refund them. */
export const capOf = (order: RefundableOrder): number => {
  const back = order.lines.filter(({ returned = 0 }) => returned > 0)
  if (back.length === 0) return restOf(order)
  const shares = capturedShares(order)
  const waiting = back.reduce(
    (sum, line) => sum + nextValue(line, shares.lines.get(line.id) ?? 0, line.returned ?? 0),
    0
  )
  return Math.max(0, restOf(order) - waiting)
}

/** `value` is the worth, `amount` the refund, in minor units. */
export interface CalculatedLine {
  readonly lineItemId: OrderLineId
  readonly sellable: string
  readonly quantity: number
  readonly value: number
  readonly amount: number
  readonly restock: boolean
  /** Units that were never handed over; a refund uses them first. The others can return to stock. */
  readonly unsent: number
}

/** `amount` 0: the units were free, so the provider is not called. */
export interface CalculatedRefund {
  readonly amount: number
  readonly shippingAmount: number
  readonly shippingValue: number
  readonly lines: ReadonlyArray<CalculatedLine>
}

/** The units would count as refunded for nothing, and the capture would still charge their price. */
export class RefundBeforeCapture extends conflict(
  "RefundBeforeCapture",
  "The payment of this order is not captured: nothing can be given back."
) {}
export class NothingToRefund
  extends conflict("NothingToRefund", "Nothing is left of this order's payment that could be given back.")
{}
export class RefundPartRefused extends invalid(
  "RefundPart",
  (path: string, _problem: string, _code: string) => path,
  (_path, problem) => problem,
  (_path, _problem, code) => code
) {}

export type RefundRefused = RefundBeforeCapture | NothingToRefund | RefundPartRefused

const refuse = (path: string, problem: string, code = "invalid") =>
  Result.fail(new RefundPartRefused(path, problem, code))

const calculateLines = (
  order: RefundableOrder,
  { lines = [], restock = false }: RefundRequest,
  shares: CapturedShares
): Result.Result<ReadonlyArray<CalculatedLine>, RefundRefused> =>
  Result.gen(function*() {
    const known = new Map(order.lines.map((line) => [line.id, line]))
    const decided: Array<CalculatedLine> = []
    for (const [index, asked] of lines.entries()) {
      const line = known.get(asked.lineItemId)
      if (line === undefined) {
        return yield* refuse(`lines.${index}.lineItemId`, "is not a line of this order.", "not_found")
      }
      known.delete(line.id)
      const left = refundableUnits(line)
      if (asked.quantity > left) {
        return yield* refuse(
          `lines.${index}.quantity`,
          `must be at most ${left}, the units that can be refunded.`,
          "too_large"
        )
      }
      const value = nextValue(line, shares.lines.get(line.id) ?? 0, asked.quantity)
      decided.push({
        lineItemId: line.id,
        sellable: line.sellable,
        quantity: asked.quantity,
        value,
        amount: value,
        restock: asked.restock ?? restock,
        unsent: Math.min(asked.quantity, line.unsent)
      })
    }
    return decided
  })

const calculateShipping = (
  order: RefundableOrder,
  { shipping = false }: RefundRequest,
  shares: CapturedShares
): Result.Result<number, RefundRefused> => {
  const left = Math.max(0, shares.shipping - order.refundedShipping)
  if (typeof shipping === "boolean") return Result.succeed(shipping ? left : 0)
  return shipping > left
    ? refuse("shipping", `must be at most ${left}, which is left of the shipping.`, "too_large")
    : Result.succeed(shipping)
}

/** Splits an agreed amount below the worth over lines and shipping by their worth, by the largest remainder. */
const agreed = (worth: CalculatedRefund, amount: number): CalculatedRefund => {
  const parts = allocate(amount, [...worth.lines.map(({ value }) => value), worth.shippingValue])
  return {
    ...worth,
    amount,
    shippingAmount: parts[worth.lines.length] ?? 0,
    lines: worth.lines.map((line, index) => ({ ...line, amount: parts[index] ?? 0 }))
  }
}

/**
 * Calculates a refund from the order's current state (contract §4.3); without parts, everything that remains. 409 if
 * nothing remains or the payment is not captured; 422 for more than remains, or for an amount above the worth of the
 * named parts.
 */
export const calculateRefund = (
  order: RefundableOrder,
  request: RefundRequest
): Result.Result<CalculatedRefund, RefundRefused> =>
  Result.gen(function*() {
    if (order.uncaptured) return yield* Result.fail(new RefundBeforeCapture())
    const cap = capOf(order)
    const ofParts = request.lines !== undefined || (request.shipping !== undefined && request.shipping !== false)
    if (cap === 0 && request.lines === undefined) return yield* Result.fail(new NothingToRefund())
    const shares = capturedShares(order)
    const lines = yield* calculateLines(order, request, shares)
    const shippingValue = yield* calculateShipping(order, request, shares)
    const value = lines.reduce((sum, line) => sum + line.value, shippingValue)
    const worth = { amount: value, shippingAmount: shippingValue, shippingValue, lines }
    const { fee = 0 } = request
    if (fee > value) {
      return yield* refuse("fee", `must be at most ${value}, which the named parts are worth.`, "too_large")
    }
    if (fee > 0 && request.amount !== undefined) {
      return yield* refuse("fee", "must be left out where amount is given.")
    }
    const amount = request.amount ?? (ofParts ? value - fee : cap)
    if (ofParts && amount > value) {
      return yield* refuse("amount", `must be at most ${value}, which the named parts are worth.`, "too_large")
    }
    if (amount > cap) {
      return yield* refuse("amount", `must be at most ${cap}, which can be given back, and is ${amount}.`, "too_large")
    }
    if (amount === 0 && lines.length === 0) {
      return yield* refuse("shipping", "must be left out: nothing is left of the shipping.")
    }
    if (!ofParts) {
      return { amount, shippingAmount: 0, shippingValue: 0, lines: [] }
    }
    return amount === value ? worth : agreed(worth, amount)
  })
