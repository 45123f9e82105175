import { assert, describe, it } from "@effect/vitest"
import { Result, Schema } from "effect"
import {
  add,
  AmountOutOfRange,
  CurrencyMismatch,
  exactFraction,
  make,
  maxMinor,
  Minor,
  type Money,
  percentOf,
  roundHalfUp,
  SignedMinor,
  subtract,
  sum,
  times
} from "../../src/domain/money/Money.ts"

const many = { arbitrary: { runs: 5000 } }
const amount = (value: number, currency: string) => Result.getOrThrow(make(value, currency))

describe("amounts in minor units", () => {
  it("admit whole numbers up to 2^53 - 1 and nothing else", () => {
    const isMinor = Schema.is(Minor)
    const isSigned = Schema.is(SignedMinor)
    for (const value of [0, 1, 29_99, maxMinor]) assert.isTrue(isMinor(value), `${value}`)
    for (const value of [-1, 29.99, maxMinor + 1, NaN, Infinity, "5"]) assert.isFalse(isMinor(value), `${value}`)
    assert.isTrue(isSigned(-maxMinor))
    assert.isFalse(isSigned(-maxMinor - 1))
  })

  it("refuse results beyond the range as a value", () => {
    const tooLarge = [
      sum([maxMinor, 1], "x"),
      sum([0.5], "x"),
      times(maxMinor, 2, "x"),
      times(94_906_267, 94_906_267, "x"),
      percentOf(maxMinor, 101),
      percentOf(1, NaN),
      percentOf(1.5, 10)
    ]
    for (const result of tooLarge) assert.deepStrictEqual(result, Result.fail(new AmountOutOfRange(failureOf(result))))
    assert.deepStrictEqual(sum([maxMinor, 1, -1], "x"), Result.succeed(SignedMinor.make(maxMinor)))
  })
})

const failureOf = (result: Result.Result<unknown, AmountOutOfRange>) =>
  Result.isFailure(result) ? { subject: result.failure.subject } : { subject: "it was admitted" }

describe("rounding", () => {
  it("takes halves up, also below zero", () => {
    const cases = [[5n, 2n, 3n], [-5n, 2n, -2n], [-7n, 2n, -3n], [-3n, 1n, -3n], [7n, 3n, 2n], [-7n, 3n, -2n], [
      0n,
      9n,
      0n
    ]]
    for (const [n = 0n, d = 1n, expected] of cases) assert.strictEqual(roundHalfUp(n, d), expected)
  })

  it("computes the percentages of the contract", () => {
    const cases = [[1500, 8.25, 124], [1000, 60, 600], [1000, 12.5, 125], [999, 50, 500], [333, 33.3333, 111]] as const
    for (const [of, percent, expected] of cases) {
      assert.strictEqual<number>(Result.getOrThrow(percentOf(of, percent)), expected)
    }
  })

  it("reads a decimal as it is written, not as the float beside it", () => {
    assert.deepStrictEqual(exactFraction(0.1), { numerator: 1n, denominator: 10n })
    assert.deepStrictEqual(exactFraction(-12.5), { numerator: -125n, denominator: 10n })
    assert.deepStrictEqual(exactFraction(1e-7), { numerator: 1n, denominator: 10_000_000n })
    assert.deepStrictEqual(exactFraction(1.5e21), { numerator: 1_500_000_000_000_000_000_000n, denominator: 1n })
    assert.isUndefined(exactFraction(Infinity))
    // 1.005 % of 100,000 is exactly 1,005; the float product is 1004.9999999999999.
    assert.strictEqual<number>(Result.getOrThrow(percentOf(100_000, 1.005)), 1005)
  })

  it.prop(
    "is never further than a half from the exact value and never below it by a half",
    {
      numerator: Schema.Int.check(Schema.isBetween({ minimum: -1_000_000, maximum: 1_000_000 })),
      denominator: Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 10_000 }))
    },
    ({ denominator, numerator }) => {
      const distance = 2 * (Number(roundHalfUp(BigInt(numerator), BigInt(denominator))) * denominator - numerator)
      return distance > -denominator && distance <= denominator
    },
    many
  )

  it.prop(
    "gives percentages with four decimals exactly",
    {
      amount: Minor,
      tenThousandths: Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 1_000_000 }))
    },
    ({ amount, tenThousandths }) => {
      const exact = (2n * BigInt(amount) * BigInt(tenThousandths) + 1_000_000n) / 2_000_000n
      return BigInt(Result.getOrThrow(percentOf(amount, tenThousandths / 10_000))) === exact
    },
    many
  )
})

describe("money", () => {
  it("adds and subtracts within one currency", () => {
    const left = Result.getOrThrow(make(1000, "GBP"))
    const right = Result.getOrThrow(make(250, "GBP"))
    assert.deepStrictEqual(add(left, right), make(1250, "GBP"))
    assert.deepStrictEqual(subtract(right, left), make(-750, "GBP"))
    assert.isTrue(Result.isFailure(add(left, Result.getOrThrow(make(maxMinor, "GBP")))))
  })

  it("refuses two currencies known only at run time", () => {
    const mismatch = new CurrencyMismatch({ left: "GBP", right: "EUR" })
    assert.deepStrictEqual(add(amount(1, "GBP"), amount(1, "EUR")), Result.fail(mismatch))
    assert.deepStrictEqual(subtract(amount(1, "GBP"), amount(1, "EUR")), Result.fail(mismatch))
  })

  it("does not compile across literal currencies", () => {
    type Addend = Parameters<typeof add<"GBP">>[1]
    const mixes: Money<"EUR"> extends Addend ? true : false = false
    const matches: Money<"GBP"> extends Addend ? true : false = true
    assert.isTrue(matches && !mixes)
  })
})
