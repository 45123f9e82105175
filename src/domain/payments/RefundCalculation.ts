import { Result } from "effect"
import { Conflict, ValidationFailed } from "../errors/ApiErrors.ts"
import { allocate } from "../money/Money.ts"
import type { RefundRequest } from "./Refund.ts"
import { capOf, type CapturedShares, capturedShares, nextValue, type RefundableOrder } from "./RefundShares.ts"

/** Units of a line that are given back: `value` is what they are worth, `amount` what is given for them, minor units. */
export interface CalculatedLine {
  readonly lineItemId: string
  readonly sellable: string
  readonly quantity: number
  readonly value: number
  readonly amount: number
  readonly restock: boolean
  /** Units that were never handed over; a refund uses them first. The others can return to stock. */
  readonly unsent: number
}

/** A refund ready to be written. `amount` 0: the units were free, so the provider is not called. */
export interface CalculatedRefund {
  readonly amount: number
  readonly shippingAmount: number
  readonly shippingValue: number
  readonly lines: ReadonlyArray<CalculatedLine>
}

type Refused = Conflict | ValidationFailed

const refuse = (path: string, message: string) => Result.fail(ValidationFailed.of(path, message))

/** The requested units with their worth. A line can be named once, and only its remaining units can be refunded. */
const calculateLines = (
  order: RefundableOrder,
  { lines = [], restock = false }: RefundRequest,
  shares: CapturedShares
): Result.Result<ReadonlyArray<CalculatedLine>, Refused> =>
  Result.gen(function*() {
    const known = new Map(order.lines.map((line) => [line.id, line]))
    const decided: Array<CalculatedLine> = []
    for (const [index, asked] of lines.entries()) {
      const line = known.get(asked.lineItemId)
      if (line === undefined) return yield* refuse(`lines.${index}.lineItemId`, "is no line of this order")
      known.delete(line.id)
      const left = line.quantity - line.refundedQuantity
      if (asked.quantity > left) {
        return yield* refuse(`lines.${index}.quantity`, `is more than the ${left} units that can be refunded`)
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
): Result.Result<number, Refused> => {
  const left = Math.max(0, shares.shipping - order.refundedShipping)
  if (typeof shipping === "boolean") return Result.succeed(shipping ? left : 0)
  return shipping > left
    ? refuse("shipping", `is more than the ${left} that are left of the shipping`)
    : Result.succeed(shipping)
}

/** An agreed amount below the worth is split over lines and shipping by what they are worth, by the largest remainder. */
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
 * Calculates a refund from the order's current state (contract §4.3): lines by their share of the capture, shipping, or
 * an amount; if the request names none, everything that remains. 409 if nothing remains or the payment is not captured;
 * 422 for more than remains of the capture, a line or the shipping, or for an amount above the worth of the named
 * parts.
 */
export const calculateRefund = (
  order: RefundableOrder,
  request: RefundRequest
): Result.Result<CalculatedRefund, Refused> =>
  Result.gen(function*() {
    // The units would count as refunded for nothing, and the capture would still charge their price.
    if (order.uncaptured) {
      return yield* Result.fail(Conflict.of("The payment of this order is not captured: nothing can be given back."))
    }
    const cap = capOf(order)
    const ofParts = request.lines !== undefined || (request.shipping !== undefined && request.shipping !== false)
    if (cap === 0 && request.lines === undefined) {
      return yield* Result.fail(Conflict.of("Nothing is left of this order's payment that could be given back."))
    }
    const shares = capturedShares(order)
    const lines = yield* calculateLines(order, request, shares)
    const shippingValue = yield* calculateShipping(order, request, shares)
    const value = lines.reduce((sum, line) => sum + line.value, shippingValue)
    const worth = { amount: value, shippingAmount: shippingValue, shippingValue, lines }
    const amount = request.amount ?? (ofParts ? value : cap)
    if (ofParts && amount > value) {
      return yield* refuse("amount", `is more than the ${value} that the named parts are worth`)
    }
    if (amount > cap) return yield* refuse("amount", `${amount} is more than the ${cap} that can be given back`)
    if (amount === 0 && lines.length === 0) return yield* refuse("shipping", "nothing is left of the shipping")
    if (!ofParts) return { amount, shippingAmount: 0, shippingValue: 0, lines: [] }
    return amount === value ? worth : agreed(worth, amount)
  })
