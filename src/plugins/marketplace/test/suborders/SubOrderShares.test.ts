import { assert, describe, it } from "@effect/vitest"
import { OrderLineId } from "stoa/plugin"
import { randomOf } from "../../../../../test/fuzz/Values.ts"
import { commissionOf, plainTerms, shareOf } from "../../commissions/CommissionTerms.ts"
import {
  dueEntries,
  lineShares,
  nothingPosted,
  owedLine,
  owedOf,
  type SoldOrder
} from "../../suborders/SubOrderShares.ts"

const line = (totalPrice: number, rest: object = {}) => ({
  id: OrderLineId.make(crypto.randomUUID()),
  totalPrice,
  discountAmount: 0,
  taxAmount: 0,
  givenBack: 0,
  ...rest
})
const unpaid: SoldOrder = {
  taxIncluded: false,
  shippingTotal: 0,
  captured: null,
  givenBack: 0,
  shippingGivenBack: 0,
  lines: []
}

/** What each line was charged, and what of it went back. */
const sharesOf = (order: Partial<SoldOrder>) =>
  Array.from(lineShares({ ...unpaid, ...order }).values(), ({ charged, refunded }) => [charged, refunded] as const)

describe("what a vendor sold of a line", () => {
  it("is its price after discounts without tax, or its part of a payment that was captured in part", () => {
    const taxed = [line(1000, { discountAmount: 100, taxAmount: 190 })]
    assert.deepStrictEqual([sharesOf({ lines: taxed }), sharesOf({ lines: taxed, taxIncluded: true })], [[[900, 0]], [[
      710,
      0
    ]]])
    const lines = [line(1000), line(500)]
    assert.deepStrictEqual(sharesOf({ lines, captured: 750 }), [[500, 0], [250, 0]])
    assert.deepStrictEqual(sharesOf({ lines, captured: 0 }), [[0, 0], [0, 0]])
  })

  it("went back as refunds name it without tax, and as its part of amounts that name nothing, beside shipping", () => {
    const named = [line(1000, { taxAmount: 200, givenBack: 600 }), line(400)]
    assert.deepStrictEqual(sharesOf({ lines: named, captured: 1600, givenBack: 600 }), [[1000, 500], [400, 0]])
    const sold = { lines: [line(1000), line(500)], shippingTotal: 500, captured: 2000, givenBack: 200 }
    assert.deepStrictEqual(sharesOf(sold), [[1000, 100], [500, 50]])
  })

  it("went back as a whole once the whole payment did, in any parts", () => {
    const { int: roll } = randomOf(7)
    for (let round = 0; round < 2000; round++) {
      const shippingTotal = roll(3) * 499
      const lines = Array.from({ length: 1 + roll(5) }, () => {
        const totalPrice = roll(4000)
        return line(totalPrice, { discountAmount: roll(totalPrice + 1), taxAmount: roll(300) })
      })
      const whole = lines.reduce((sum, one) => sum + one.totalPrice - one.discountAmount + one.taxAmount, shippingTotal)
      const captured = roll(4) === 0 ? roll(whole + 1) : whole + roll(2) * roll(100)
      const sold = { lines, shippingTotal, captured }
      for (const [charged, back] of sharesOf({ ...sold, givenBack: captured })) assert.strictEqual(back, charged)
      for (const [charged, back] of sharesOf({ ...sold, givenBack: roll(captured + 1) })) {
        assert.isTrue(back >= 0 && back <= charged, JSON.stringify(sold))
      }
    }
  })
})

describe("what a vendor is owed", () => {
  const state = { isCancelled: false, isCaptured: true }

  it("adds up, and the commission goes back with what it was taken for", () => {
    const { int: roll } = randomOf(11)
    for (let round = 0; round < 2000; round++) {
      const rate = plainTerms(roll(10_001))
      const lines = Array.from({ length: 1 + roll(4) }, () => {
        const charged = roll(5000)
        return owedLine({ charged, refunded: roll(charged + 1) }, rate, false)
      })
      const owed = owedOf(lines)
      assert.strictEqual(owed.payout, owed.subtotal - owed.refunded - owed.commission)
      assert.isAtLeast(owed.payout, 0)
      const due = Object.values(dueEntries(owed, nothingPosted, state))
      assert.strictEqual(due.reduce((sum, amount) => sum + amount, 0), owed.payout)
      const back = owedOf(lines.map(({ charged }) => owedLine({ charged, refunded: charged }, rate, false)))
      assert.deepInclude(back, { commission: 0, payout: 0 })
    }
  })

  it("is posted once, only when something was captured, and never for an order that was cancelled before", () => {
    const owedWhen = (isCancelled: boolean) =>
      owedOf([owedLine({ charged: 1000, refunded: 0 }, plainTerms(1000), isCancelled)])
    const [owed, gone, cancelled] = [owedWhen(false), owedWhen(true), { ...state, isCancelled: true }]
    assert.deepStrictEqual(dueEntries(owed, nothingPosted, { ...state, isCaptured: false }), nothingPosted)
    const first = dueEntries(owed, nothingPosted, state)
    assert.deepInclude(first, { sale: 1000, commission: -100 })
    assert.deepStrictEqual(Object.values(dueEntries(owed, first, state)).map(Math.abs), [0, 0, 0, 0])
    assert.deepStrictEqual(dueEntries(gone, nothingPosted, cancelled), nothingPosted)
    const back = { sale: 0, commission: 0, refund_deduction: -1000, commission_reversal: 100 }
    assert.deepStrictEqual(dueEntries(gone, first, cancelled), back)
  })
})

it("a commission is rounded half to even, has a fee on top and bounds, and is never more than the line", () => {
  assert.deepStrictEqual([4, 5, 6, 15, 25, 35].map((amount) => shareOf(amount, 1, 10)), [0, 0, 1, 2, 2, 4])
  const fees = { ...plainTerms(1000), fixedFeeCents: 30, minFeeCents: 50, maxFeeCents: 200 }
  const commissions = [0, 40, 100, 1000, 5000].map((charged) => commissionOf(charged, fees))
  assert.deepStrictEqual(commissions, [0, 40, 50, 130, 200])
})
