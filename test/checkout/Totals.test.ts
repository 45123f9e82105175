import { assert, describe, it } from "@effect/vitest"
import { Result, Schema } from "effect"
import {
  allocateDiscounts,
  orderTotals,
  payable,
  type TotalsInput,
  type TotalsLine
} from "../../src/domain/pricing/Totals.ts"

const line = (key: string, quantity: number, unitPrice: number): TotalsLine => ({ key, quantity, unitPrice })
const order = (also: Partial<TotalsInput<TotalsLine>>) =>
  orderTotals({ currency: "GBP", lines: [], discounts: [], shippingTotal: 0, ...also })
const added = (amounts: ReadonlyArray<number>) => amounts.reduce((sum, amount) => sum + BigInt(amount), 0n)

describe("order totals", () => {
  it("price the contract's example: 8.25 % tax of 1000 + 500, spread over the lines", () => {
    const priced = Result.getOrThrow(order({ lines: [line("a", 1, 1000), line("b", 5, 100)], taxTotal: 124 }))
    assert.deepStrictEqual(priced.lines.map((one) => Number(one.taxAmount)), [83, 41])
    assert.strictEqual<number>(priced.subtotal, 1500)
    assert.strictEqual<number>(priced.grandTotal, 1624)
  })

  it("limit the discounts to the subtotal, so that the total is never negative", () => {
    const discounts = [{ amount: 600 }, { amount: 600 }]
    const priced = Result.getOrThrow(order({ lines: [line("a", 1, 1000)], discounts, shippingTotal: 350 }))
    assert.strictEqual<number>(priced.discountTotal, 1000)
    assert.strictEqual<number>(priced.grandTotal, 350)
  })

  it("keep what the caller knows about a line", () => {
    const priced = orderTotals({
      currency: "GBP",
      lines: [{ ...line("a", 2, 50), title: "Sock" }],
      discounts: [],
      shippingTotal: 0
    })
    assert.deepStrictEqual(Result.getOrThrow(priced).lines.map((one) => [one.title, Number(one.totalPrice)]), [[
      "Sock",
      100
    ]])
  })

  it("keep the tax of a line on the line and spread only the tax of shipping", () => {
    const lines = [line("a", 1, 300), line("b", 1, 100)]
    const priced = Result.getOrThrow(order({ lines, lineTaxes: [60, 0], taxTotal: 100, shippingTotal: 200 }))
    assert.deepStrictEqual(priced.lines.map((one) => Number(one.taxAmount)), [90, 10])
    assert.strictEqual<number>(Result.getOrThrow(order({ lines, lineTaxes: [60, 7] })).taxTotal, 67)
  })

  it("keep the tax of shipping off stored value, also where the goods beside it are free", () => {
    const card = { ...line("card", 1, 5000), storedValue: true }
    for (const [price, discounts] of [[1000, [{ amount: 1000 }]], [0, []]] as const) {
      const lines = [card, line("a", 1, price)]
      const priced = Result.getOrThrow(
        order({ lines, discounts, lineTaxes: [0, 0], taxTotal: 100, shippingTotal: 500 })
      )
      assert.deepStrictEqual(priced.lines.map((one) => Number(one.taxAmount)), [0, 100])
    }
  })

  it("contain the tax that the prices include, which is not added again", () => {
    const lines = [line("a", 1, 1190), line("b", 1, 595)]
    const priced = Result.getOrThrow(
      order({ lines, discounts: [{ amount: 595, eligibleLines: [1] }], lineTaxes: [190, 0], taxIncluded: true })
    )
    assert.deepStrictEqual([priced.taxTotal, priced.grandTotal, priced.taxIncluded].map(Number), [190, 1190, 1])
    assert.isTrue(Result.isFailure(order({ lines, lineTaxes: [1786, 0], taxIncluded: true })))
    const sold = { total: 1190, discount: 90, tax: 100 }
    assert.strictEqual(payable({ ...sold, taxIncluded: true }), 1100)
    assert.strictEqual(payable({ ...sold, taxIncluded: false }), 1200)
  })

  it("spread tax by what the lines cost after discount", () => {
    const lines = [line("a", 1, 300), line("b", 1, 100)]
    const discounts = [{ amount: 200, eligibleLines: [0] }]
    const priced = Result.getOrThrow(order({ lines, discounts, taxTotal: 40 }))
    assert.deepStrictEqual(priced.lines.map((one) => Number(one.taxAmount)), [20, 20])
  })

  it("put the tax of shipping on the lines even when all of them are free", () => {
    const lines = [line("a", 1, 300), line("b", 1, 100)]
    const priced = Result.getOrThrow(order({ lines, discounts: [{ amount: 400 }], taxTotal: 40, shippingTotal: 200 }))
    assert.deepStrictEqual(priced.lines.map((one) => Number(one.taxAmount)), [30, 10])
  })

  it("are zero without lines, and carry the shipping", () => {
    const priced = Result.getOrThrow(order({ shippingTotal: 5, discounts: [{ amount: 9 }] }))
    assert.deepStrictEqual([priced.subtotal, priced.discountTotal, priced.grandTotal].map(Number), [0, 0, 5])
  })

  it("refuse as a value what is no order", () => {
    const one = [line("a", 1, 100)]
    const most = Number.MAX_SAFE_INTEGER
    const refused: ReadonlyArray<Partial<TotalsInput<TotalsLine>>> = [
      { lines: [line("a", 2, most)] },
      { lines: [line("a", 1, most), line("b", 1, 1)] },
      { lines: [line("a", 1, most)], shippingTotal: 1 },
      { lines: [line("a", 1, most)], taxTotal: 1 },
      { lines: [line("a", 1, -1)] },
      { lines: [line("a", 1, 0.5)] },
      { lines: [line("a", 1.5, 100)] },
      { lines: [line("a", -1, 100)] },
      { lines: one, discounts: [{ amount: -1 }] },
      { lines: one, discounts: [{ amount: NaN }] },
      { lines: one, lineTaxes: [5], taxTotal: 4 },
      { lines: one, lineTaxes: [5, 5] },
      { lines: one, shippingTotal: -1 },
      { taxTotal: 1 }
    ]
    for (const input of refused) assert.isTrue(Result.isFailure(order(input)), JSON.stringify(input))
    assert.isTrue(
      Result.isSuccess(order({ lines: [line("a", 1, most)], discounts: [{ amount: 2 }], shippingTotal: 2 }))
    )
  })
})

describe("discounts over lines", () => {
  it("stay on the lines they are for, and the order's part goes where something is left to pay", () => {
    const item = { amount: 100, eligibleLines: [0] }
    assert.deepStrictEqual(allocateDiscounts([100, 300], [{ amount: 150 }, item]), [100, 150])
    assert.deepStrictEqual(allocateDiscounts([100, 300], [{ amount: 100 }]), [25, 75])
  })

  it("never reach a line that is apart, unless they are for it", () => {
    const isApart = (index: number) => index === 1
    assert.deepStrictEqual(allocateDiscounts([100, 300], [{ amount: 60 }], isApart), [60, 0])
    assert.deepStrictEqual(allocateDiscounts([100, 300], [{ amount: 5, eligibleLines: [1] }], isApart), [0, 5])
  })

  it("go with the order's part when their lines are already free, and nothing is lost", () => {
    const item = { amount: 60, eligibleLines: [0] }
    assert.deepStrictEqual(allocateDiscounts([100, 100], [item, item]), [100, 20])
    assert.deepStrictEqual(allocateDiscounts([100], [{ amount: 5, eligibleLines: [7] }]), [5])
  })
})

const between = (minimum: number, maximum: number) => Schema.Int.check(Schema.isBetween({ minimum, maximum }))
const anyCart = Schema.Struct({
  lines: Schema.NonEmptyArray(
    Schema.Struct({ key: Schema.String, quantity: between(0, 9999), unitPrice: between(0, 10_000_000) })
  ),
  discounts: Schema.Array(Schema.Struct({
    amount: between(0, 20_000_000),
    eligibleLines: Schema.NullOr(Schema.Array(between(0, 12)))
  })),
  shippingTotal: between(0, 100_000),
  shippingTax: between(0, 20_000),
  taxes: Schema.Array(between(0, 100_000))
})

describe("ten thousand generated carts", () => {
  it.prop("add up: lines equal the order in every column", { cart: anyCart }, ({ cart }) => {
    const { discounts, lines, shippingTax, shippingTotal } = cart
    const lineTaxes = lines.map((_, index) => cart.taxes[index] ?? 0)
    const taxTotal = Number(added(lineTaxes)) + shippingTax
    const priced = Result.getOrThrow(
      orderTotals({ currency: "GBP", lines, discounts, shippingTotal, lineTaxes, taxTotal })
    )
    const subtotal = added(lines.map((one) => one.quantity * one.unitPrice))
    const asked = added(discounts.map((discount) => discount.amount))
    const discountTotal = asked < subtotal ? asked : subtotal
    assert.strictEqual(BigInt(priced.subtotal), subtotal)
    assert.strictEqual(BigInt(priced.discountTotal), discountTotal)
    assert.strictEqual(added(priced.lines.map((one) => one.totalPrice)), subtotal)
    assert.strictEqual(added(priced.lines.map((one) => one.discountAmount)), discountTotal)
    assert.strictEqual(added(priced.lines.map((one) => one.taxAmount)), BigInt(taxTotal))
    assert.strictEqual(BigInt(priced.grandTotal), subtotal - discountTotal + BigInt(taxTotal + shippingTotal))
    for (const [index, one] of priced.lines.entries()) {
      assert.isTrue(one.discountAmount >= 0 && one.discountAmount <= one.totalPrice)
      assert.isAtLeast(one.taxAmount, lineTaxes[index] ?? 0)
    }
  }, { arbitrary: { runs: 10_000 }, timeout: 60_000 })

  it.prop(
    "keep a single promotion of certain lines on these lines",
    { lines: anyCart.fields.lines, percent: between(0, 100) },
    ({ lines, percent }) => {
      const totals = lines.map((one) => one.quantity * one.unitPrice)
      const [first = 0] = totals
      const parts = allocateDiscounts(totals, [{ amount: Math.floor(first * percent / 100), eligibleLines: [0] }])
      return parts.slice(1).every((part) => part === 0)
    },
    { arbitrary: { runs: 2000 } }
  )
})
