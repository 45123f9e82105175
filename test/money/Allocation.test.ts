import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"
import { allocate, Minor, SignedMinor } from "../../src/domain/platform/money/Money.ts"

const many = { arbitrary: { runs: 5000 } }
const anyWeights = Schema.NonEmptyArray(Minor)
const smallWeights = Schema.NonEmptyArray(Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 5 })))
const added = (parts: ReadonlyArray<number>) => parts.reduce((sum, part) => sum + BigInt(part), 0n)

describe("allocation by largest remainder", () => {
  it("gives what is left over to the largest fractions", () => {
    assert.deepStrictEqual(allocate(100, [1, 1, 1]), [34, 33, 33])
    assert.deepStrictEqual(allocate(10, [1000, 500]), [7, 3])
    assert.deepStrictEqual(allocate(124, [1000, 500]), [83, 41])
    assert.deepStrictEqual(allocate(5, [3, 2, 2]), [2, 2, 1])
  })

  it("gives ties to the earlier index and nothing to a weight of zero", () => {
    assert.deepStrictEqual(allocate(1, [7, 7]), [1, 0])
    assert.deepStrictEqual(allocate(3, [0, 2, 0, 2]), [0, 2, 0, 1])
  })

  it("spreads equally when all weights are zero, and takes negative totals", () => {
    assert.deepStrictEqual(allocate(5, [0, 0]), [3, 2])
    assert.deepStrictEqual(allocate(-100, [1, 1, 1]), [-34, -33, -33])
    assert.deepStrictEqual(allocate(0, []), [])
  })

  it("throws on a mistake of the program", () => {
    assert.throws(() => allocate(1, []), RangeError)
    assert.throws(() => allocate(1, [-1, 2]), RangeError)
    assert.throws(() => allocate(1.5, [1]), RangeError)
    assert.throws(() => allocate(1, [NaN]), RangeError)
  })

  it.prop(
    "always adds up for numbers of any size",
    { total: SignedMinor, weights: anyWeights },
    ({ total, weights }) => added(allocate(total, weights)) === BigInt(total),
    many
  )

  it.prop(
    "stays within one unit of the exact share and keeps the order of the weights",
    { total: Minor, weights: smallWeights },
    ({ total, weights }) => {
      const parts = allocate(total, weights)
      const whole = weights.reduce((sum, weight) => sum + weight, 0)
      if (whole === 0) return Math.max(...parts) - Math.min(...parts) <= 1
      return weights.every((weight, index) => {
        const exact = BigInt(total) * BigInt(weight)
        const off = BigInt(parts[index] ?? 0) * BigInt(whole) - exact
        return off > -BigInt(whole) && off < BigInt(whole) && (weight > 0 || parts[index] === 0) &&
          weights.every((other, next) => weight <= other || (parts[index] ?? 0) >= (parts[next] ?? 0))
      })
    },
    many
  )

  it.prop(
    "never gives more than the weight when the total does not exceed the weights",
    { weights: smallWeights, percent: Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 100 })) },
    ({ percent, weights }) => {
      const total = Math.floor(weights.reduce((sum, weight) => sum + weight, 0) * percent / 100)
      return total === 0 || allocate(total, weights).every((part, index) => part <= (weights[index] ?? 0))
    },
    many
  )
})
