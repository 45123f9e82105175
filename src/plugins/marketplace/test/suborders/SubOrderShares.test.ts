import { assert, describe, it } from "@effect/vitest"
import { OrderLineId } from "stoa/plugin"
import { commissionOf, plainTerms, shareOf } from "../../commissions/CommissionTerms.ts"
import {
  dueEntries,
  lineShares,
  nothingPosted,
  owedLine,
  owedOf,
  type SoldOrder
} from "../../suborders/SubOrderShares.ts"
import { random } from "../Random.ts"

const line = (id: string, totalPrice: number, rest: object = {}) => ({
  id: OrderLineId.make(id),
  totalPrice,
  discountAmount: 0,
  taxAmount: 0,
  givenBack: 0,
  ...rest
})

const order = (rest: Partial<SoldOrder>): SoldOrder => ({
  taxIncluded: false,
  shippingTotal: 0,
  captured: null,
  givenBack: 0,
  shippingGivenBack: 0,
  lines: [],
  ...rest
})

const sharesOf = (sold: SoldOrder) => [...lineShares(sold).values()].map(({ charged, refunded }) => [charged, refunded])

describe("what a line was charged", () => {
  it("what a line was charged is its price after discounts, without tax", () => {
    const lines = [line("a", 1000, { discountAmount: 100, taxAmount: 190 })]
    assert.deepStrictEqual(sharesOf(order({ lines })), [[900, 0]])
    assert.deepStrictEqual(sharesOf(order({ lines, taxIncluded: true })), [[710, 0]])
  })

  it("what a line was charged is its part of a payment that was captured in part", () => {
    const lines = [line("a", 1000), line("b", 500)]
    assert.deepStrictEqual(sharesOf(order({ lines, captured: 750 })), [[500, 0], [250, 0]])
    assert.deepStrictEqual(sharesOf(order({ lines, captured: 0 })), [[0, 0], [0, 0]])
  })
})

describe("what of a line went back", () => {
  it("what of a line went back is what refunds name of it, without the tax in that", () => {
    const lines = [
      line("a", 1000, { taxAmount: 200, givenBack: 600 }),
      line("b", 400)
    ]
    assert.deepStrictEqual(sharesOf(order({ lines, captured: 1600, givenBack: 600 })), [[1000, 500], [400, 0]])
  })

  it("what of a line went back is its part of amounts that name nothing, beside shipping", () => {
    const lines = [line("a", 1000), line("b", 500)]
    const sold = order({ lines, shippingTotal: 500, captured: 2000, givenBack: 200 })
    assert.deepStrictEqual(sharesOf(sold), [[1000, 100], [500, 50]])
  })

  it("refunds everything once the whole payment went back, in any parts", () => {
    const roll = random(7)
    for (let round = 0; round < 2000; round++) {
      const shippingTotal = roll(3) * 499
      const lines = Array.from({ length: 1 + roll(5) }, (_, index) => {
        const totalPrice = roll(4000)
        const discountAmount = roll(totalPrice + 1)
        return line(`${index}`, totalPrice, { discountAmount, taxAmount: roll(300) })
      })
      const whole = lines.reduce((sum, one) => sum + one.totalPrice - one.discountAmount + one.taxAmount, shippingTotal)
      const captured = roll(4) === 0 ? roll(whole + 1) : whole + roll(2) * roll(100)
      const sold = order({ lines, shippingTotal, captured, givenBack: captured })
      for (const [charged, refunded] of sharesOf(sold)) assert.strictEqual(refunded, charged, JSON.stringify(sold))
      const part = order({ ...sold, givenBack: roll(captured + 1) })
      for (const [charged = 0, refunded = 0] of sharesOf(part)) {
        assert.isAtLeast(refunded, 0)
        assert.isAtMost(refunded, charged)
      }
    }
  })
})

describe("what a vendor is owed", () => {
  const terms = plainTerms(1000)
  const state = { isCancelled: false, isCaptured: true }

  it("adds up, and the commission goes back with what it was taken for", () => {
    const roll = random(11)
    for (let round = 0; round < 2000; round++) {
      const rate = plainTerms(roll(10_001))
      const lines = Array.from({ length: 1 + roll(4) }, () => {
        const charged = roll(5000)
        return owedLine({ charged, refunded: roll(charged + 1) }, rate, false)
      })
      const owed = owedOf(lines)
      assert.strictEqual(owed.payout, owed.subtotal - owed.refunded - owed.commission)
      assert.isAtLeast(owed.payout, 0)
      const { commission, commission_reversal, refund_deduction, sale } = dueEntries(owed, nothingPosted, state)
      assert.strictEqual(sale + commission + refund_deduction + commission_reversal, owed.payout)
      const back = owedOf(lines.map(({ charged }) => owedLine({ charged, refunded: charged }, rate, false)))
      assert.deepInclude(back, { commission: 0, payout: 0 })
    }
  })

  it("what a vendor is owed is posted once, only when something was captured, and never for an order that was cancelled before", () => {
    const owed = owedOf([owedLine({ charged: 1000, refunded: 0 }, terms, false)])
    assert.deepStrictEqual(dueEntries(owed, nothingPosted, { ...state, isCaptured: false }), nothingPosted)
    const first = dueEntries(owed, nothingPosted, state)
    assert.deepInclude(first, { sale: 1000, commission: -100 })
    assert.deepStrictEqual(Object.values(dueEntries(owed, first, state)).map(Math.abs), [0, 0, 0, 0])
    const gone = owedOf([owedLine({ charged: 1000, refunded: 0 }, terms, true)])
    assert.deepStrictEqual(dueEntries(gone, nothingPosted, { ...state, isCancelled: true }), nothingPosted)
    assert.deepStrictEqual(dueEntries(gone, first, { ...state, isCancelled: true }), {
      sale: 0,
      commission: 0,
      refund_deduction: -1000,
      commission_reversal: 100
    })
  })
})

describe("a commission", () => {
  it("a commission is rounded half to even", () => {
    assert.deepStrictEqual([5, 15, 25, 35].map((amount) => shareOf(amount, 1, 10)), [0, 2, 2, 4])
    assert.deepStrictEqual([4, 6, 14, 16].map((amount) => shareOf(amount, 1, 10)), [0, 1, 1, 2])
  })

  it("a commission has a fee on top and bounds, and is never more than the line", () => {
    const fees = { ...plainTerms(1000), fixedFeeCents: 30, minFeeCents: 50, maxFeeCents: 200 }
    assert.deepStrictEqual([0, 40, 100, 1000, 5000].map((charged) => commissionOf(charged, fees)), [
      0,
      40,
      50,
      130,
      200
    ])
  })
})
