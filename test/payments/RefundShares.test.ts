import { assert, describe, it } from "@effect/vitest"
import { Result } from "effect"
import type { RefundRequest } from "../../src/domain/payments/Refund.ts"
import {
  calculateRefund,
  type RefundableLine,
  type RefundableOrder
} from "../../src/domain/payments/RefundCalculation.ts"
import { OrderLineId } from "../../src/domain/platform/ids/Id.ts"

const line = (id: string, also: Partial<RefundableLine> = {}): RefundableLine => ({
  id: OrderLineId.make(id),
  sellable: id,
  quantity: 1,
  refundedQuantity: 0,
  refundedValue: 0,
  totalPrice: 1_000,
  discountAmount: 0,
  taxAmount: 0,
  unsent: 0,
  ...also
})

const paid = (lines: ReadonlyArray<RefundableLine>, also: Partial<RefundableOrder> = {}): RefundableOrder => {
  const taxes = also.taxIncluded === true ? 0 : 1
  const cost = lines.reduce((sum, one) => sum + one.totalPrice - one.discountAmount + taxes * one.taxAmount, 0)
  return {
    currency: "USD",
    captured: cost + (also.shippingTotal ?? 0),
    uncaptured: false,
    refunded: 0,
    pending: 0,
    shippingTotal: 0,
    refundedShipping: 0,
    taxIncluded: false,
    lines,
    ...also
  }
}

const amountOf = (order: RefundableOrder, request: RefundRequest) =>
  Result.getOrThrow(calculateRefund(order, request)).amount

const refusedAt = (order: RefundableOrder, request: RefundRequest) => {
  const decided = calculateRefund(order, request)
  return Result.isFailure(decided) ? decided.failure.error : undefined
}

const units = (line: string, quantity: number) => ({ lines: [{ lineItemId: OrderLineId.make(line), quantity }] })

/** The order after a refund, as the database keeps it. */
const after = (order: RefundableOrder, request: RefundRequest) => {
  const { amount, lines, shippingValue } = Result.getOrThrow(calculateRefund(order, request))
  const next: RefundableOrder = {
    ...order,
    refunded: order.refunded + amount,
    refundedShipping: order.refundedShipping + shippingValue,
    lines: order.lines.map((one) => {
      const part = lines.find(({ lineItemId }) => lineItemId === one.id)
      return part === undefined ? one : {
        ...one,
        refundedQuantity: one.refundedQuantity + part.quantity,
        refundedValue: one.refundedValue + part.value
      }
    })
  }
  return { next, amount, lines }
}

describe("what units are worth", () => {
  it("values a unit at its price less its discount, plus its tax where the price does not contain it", () => {
    const lines = [line("a", { totalPrice: 1_000, discountAmount: 100, taxAmount: 124 })]
    assert.strictEqual(amountOf(paid(lines), units("a", 1)), 1_024)
    assert.strictEqual(amountOf(paid(lines, { taxIncluded: true }), units("a", 1)), 900)
  })

  it("values single units of a line so that they add up to the line", () => {
    let order = paid([line("a", { quantity: 3, totalPrice: 1_000 })])
    const amounts = [1, 2, 3].map(() => {
      const done = after(order, units("a", 1))
      order = done.next
      return done.amount
    })
    assert.deepStrictEqual(amounts, [333, 334, 333])
  })
})

describe("a refund that is asked for", () => {
  const order = paid([line("a", { quantity: 2, totalPrice: 2_000 }), line("b")], {
    shippingTotal: 500
  })

  it("refunds everything that is left when nothing is named", () => {
    assert.strictEqual(amountOf({ ...order, refunded: 1_000, pending: 300 }, {}), 2_200)
  })

  it("splits an agreed amount below the parts' worth over them", () => {
    const decided = Result.getOrThrow(
      calculateRefund(order, { ...units("a", 1), shipping: true, amount: 1_200 })
    )
    assert.deepStrictEqual([decided.lines[0]?.amount, decided.shippingAmount], [800, 400])
    // What was kept back is not given with the next unit.
    assert.strictEqual(
      amountOf(after(order, { ...units("a", 1), amount: 800 }).next, units("a", 1)),
      1_000
    )
  })

  it("refuses more than is left of a line, the shipping, the parts or the capture", () => {
    const paths = [
      units("c", 1),
      units("a", 3),
      { lines: [...units("a", 1).lines, ...units("a", 1).lines] },
      { shipping: 501 },
      { ...units("b", 1), amount: 1_001 },
      { amount: 3_501 }
    ].map((request) => refusedAt(order, request)?.message.split(" ")[0])
    assert.deepStrictEqual(paths, [
      "lines.0.lineItemId",
      "lines.0.quantity",
      "lines.1.lineItemId",
      "shipping",
      "amount",
      "amount"
    ])
    assert.strictEqual(refusedAt({ ...order, refunded: 3_500 }, {})?.code, "CONFLICT")
    assert.strictEqual(refusedAt({ ...order, captured: 0 }, { amount: 1 })?.code, "CONFLICT")
    assert.strictEqual(
      refusedAt({ ...order, refunded: 3_000 }, units("b", 1))?.code,
      "VALIDATION_FAILED"
    )
  })

  it("refunds units first that were never handed over", () => {
    const sent = paid([line("a", { quantity: 3, totalPrice: 3_000, unsent: 1 })])
    assert.strictEqual(Result.getOrThrow(calculateRefund(sent, units("a", 2))).lines[0]?.unsent, 1)
  })
})
