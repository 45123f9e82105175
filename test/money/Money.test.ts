import { assert, describe, it } from "@effect/vitest"
import { Result, Schema } from "effect"
import {
  AmountOutOfRange,
  exactFraction,
  maxMinor,
  Minor,
  percentOf,
  roundHalfUp,
  SignedMinor,
  sum,
  times
} from "../../src/domain/platform/money/Money.ts"

const many = { arbitrary: { runs: 5000 } }

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
      times(94_906_267, 94_906_267, "x")
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
    const cases: ReadonlyArray<readonly [bigint, number, bigint]> = [
      [1500n, 8.25, 124n],
      [1000n, 60, 600n],
      [1000n, 12.5, 125n],
      [999n, 50, 500n],
      [333n, 33.3333, 111n]
    ]
    for (const [of, percent, expected] of cases) assert.strictEqual(percentOf(of, percent), expected)
    for (const percent of [NaN, Infinity]) assert.strictEqual(percentOf(1500n, percent), 0n)
  })

  it("reads a decimal as it is written, not as the float beside it", () => {
    assert.deepStrictEqual(exactFraction(0.1), { numerator: 1n, denominator: 10n })
    assert.deepStrictEqual(exactFraction(-12.5), { numerator: -125n, denominator: 10n })
    assert.deepStrictEqual(exactFraction(1e-7), { numerator: 1n, denominator: 10_000_000n })
    assert.deepStrictEqual(exactFraction(1.5e21), { numerator: 1_500_000_000_000_000_000_000n, denominator: 1n })
    assert.isUndefined(exactFraction(Infinity))
    // 1.005 % of 100,000 is exactly 1,005; the float product is 1004.9999999999999.
    assert.strictEqual(percentOf(100_000n, 1.005), 1005n)
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
      return percentOf(BigInt(amount), tenThousandths / 10_000) === exact
    },
    many
  )
})
