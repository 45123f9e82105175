import { assert } from "@effect/vitest"
import { Result } from "effect"
import type { RefundRequest } from "../../src/domain/payments/Refund.ts"
import {
  type CalculatedRefund,
  calculateRefund,
  type RefundableOrder
} from "../../src/domain/payments/RefundCalculation.ts"
import { OrderLineId } from "../../src/domain/platform/ids/Id.ts"
import type { Bill } from "./Bill.ts"
import type { Chance } from "./Chance.ts"
import type { Wish } from "./Shop.ts"

/** An order of which nothing was given back yet, as its refunds see it. */
export const refundable = (bill: Bill, wish: Wish, captured: number): RefundableOrder => ({
  currency: bill.currency,
  captured,
  uncaptured: false,
  refunded: 0,
  pending: 0,
  shippingTotal: bill.shippingTotal,
  refundedShipping: 0,
  taxIncluded: bill.taxIncluded,
  lines: bill.lines.map((line, index) => ({
    id: OrderLineId.make(String(index)),
    sellable: String(index),
    quantity: wish.lines[index]?.quantity ?? 0,
    refundedQuantity: 0,
    refundedValue: 0,
    totalPrice: line.totalPrice,
    discountAmount: line.discountAmount,
    taxAmount: line.taxAmount,
    unsent: 0
  }))
})

/** What the database counts when a refund is written. */
const counted = (order: RefundableOrder, { amount, lines, shippingValue }: CalculatedRefund): RefundableOrder => ({
  ...order,
  refunded: order.refunded + amount,
  refundedShipping: order.refundedShipping + shippingValue,
  lines: order.lines.map((line) => {
    const part = lines.find(({ lineItemId }) => lineItemId === line.id)
    return part === undefined ? line : {
      ...line,
      refundedQuantity: line.refundedQuantity + part.quantity,
      refundedValue: line.refundedValue + part.value
    }
  })
})

/** All units that are left, of some lines or of all. */
const unitsLeft = ({ lines }: Pick<RefundableOrder, "lines">): NonNullable<RefundRequest["lines"]> =>
  lines.filter(({ quantity, refundedQuantity }) => refundedQuantity < quantity)
    .map(({ id, quantity, refundedQuantity }) => ({ lineItemId: id, quantity: quantity - refundedQuantity }))

/** A request that names units, shipping, or both; sometimes more than is left, which has to be refused. */
export const anyParts = (chance: Chance, order: RefundableOrder): RefundRequest => {
  const lines = chance.someOf(unitsLeft(order), 50).map(({ lineItemId, quantity }) => ({
    lineItemId,
    quantity: chance.inHundred(5) ? quantity + 1 : chance.between(1, quantity)
  }))
  const shipping = chance.inHundred(30) ? chance.inHundred(50) || chance.between(0, order.shippingTotal) : undefined
  return { ...(lines.length > 0 ? { lines } : {}), ...(shipping === undefined ? {} : { shipping }) }
}

/**
 * Gives an order back in parts until nothing is left, either by its units and its shipping alone, or by agreed amounts
 * too. What is given never passes what was captured and in the end is that, to the unit. Gives the number of refunds.
 */
export const giveBack = (chance: Chance, order: RefundableOrder, about: string): number => {
  const byParts = chance.inHundred(60)
  let [now, given, refunds] = [order, 0n, 0]
  const give = (request: RefundRequest): boolean => {
    const decided = calculateRefund(now, request)
    if (Result.isFailure(decided)) return false
    const { amount, lines, shippingAmount } = decided.success
    const parts = lines.reduce((sum, line) => sum + BigInt(line.amount), BigInt(shippingAmount))
    const named = request.lines !== undefined || request.shipping !== undefined
    given += BigInt(amount)
    refunds += 1
    if (amount < 0 || (named && parts !== BigInt(amount)) || given > BigInt(order.captured)) {
      assert.fail(`${about}: ${given} of ${order.captured} after ${JSON.stringify(request)}`)
    }
    now = counted(now, decided.success)
    return true
  }
  for (let turn = chance.between(0, 4); turn > 0; turn--) {
    const parts = anyParts(chance, now)
    if (byParts) {
      if (parts.lines !== undefined || parts.shipping !== undefined) give(parts)
    } else give({ ...parts, ...(chance.inHundred(70) ? { amount: chance.between(1, order.captured) } : {}) })
  }
  if (byParts) {
    const lines = unitsLeft(now)
    if (lines.length > 0 && !give({ lines })) assert.fail(`${about}: the units that are left are refused`)
    if (given < BigInt(order.captured) && !give({ shipping: true })) {
      assert.fail(`${about}: the shipping that is left is refused`)
    }
  } else if (given < BigInt(order.captured) && !give({})) assert.fail(`${about}: what is left is refused`)
  if (given !== BigInt(order.captured)) {
    assert.fail(`${about}: ${given} of ${order.captured} came back, ${byParts ? "by parts" : "by amounts"}`)
  }
  return refunds
}
