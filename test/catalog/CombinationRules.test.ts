import { assert, describe, it } from "@effect/vitest"
import { Result, Schema } from "effect"
import {
  type Axis,
  type Combination,
  combinationKey,
  combinationsFor,
  fullProduct,
  type InvalidCombination
} from "../../src/domain/catalog/variants/Variant.ts"
import { OptionValueId } from "../../src/domain/platform/ids/Id.ts"

const value = (id: string) => OptionValueId.make(id)

const axis = (name: string, count: number): Axis => ({
  name,
  values: Array.from({ length: count }, (_, index) => ({ id: `${name}${index}`, value: `${name}-${index}` }))
})

const axes = (...sizes: ReadonlyArray<number>) => sizes.map((size, index) => axis("abcdefgh"[index] ?? "z", size))

const made = (result: ReturnType<typeof combinationsFor>) => Result.getOrThrow(result)

const refusal = (result: Result.Result<unknown, InvalidCombination>): string =>
  Result.isFailure(result) ? result.failure.error.message : "none"

const index = (maximum: number) => Schema.Int.check(Schema.isBetween({ minimum: 0, maximum }))
const list = <S extends Schema.Constraint>(item: S, maximum: number) =>
  Schema.Array(item).check(Schema.isMaxLength(maximum))
const anySizes = list(index(3), 4)
/** Patterns by number: the axis and the value on it. */
const anyPatterns = list(list(Schema.Tuple([index(3), index(2)]), 3), 4)

const patternIds = (patterns: typeof anyPatterns.Type) =>
  patterns.map((pattern) => pattern.map(([a, v]) => OptionValueId.make(`${"abcd"[a]}${v}`)))

describe("combinations", () => {
  it.prop(
    "combinations of mode all are each choice of one value per option, once",
    { sizes: anySizes },
    ({ sizes }) => {
      const all = made(combinationsFor(axes(...sizes), { mode: "all" }))
      assert.strictEqual(all.length, sizes.reduce((product, size) => product * size, 1))
      assert.strictEqual(new Set(all.map(combinationKey)).size, all.length)
      for (const combination of all) {
        assert.deepStrictEqual(combination.map((id) => id[0]), sizes.map((_, position) => "abcd"[position]))
      }
    }
  )

  it.prop(
    "of a matrix are those of the product that no exclude pattern lies in and, if there are any, some include pattern",
    { sizes: anySizes, include: anyPatterns, exclude: anyPatterns },
    ({ exclude, include, sizes }) => {
      const matrix = { include: patternIds(include), exclude: patternIds(exclude) }
      const kept = new Set(made(combinationsFor(axes(...sizes), { mode: "matrix", matrix })).map(combinationKey))
      for (const combination of fullProduct(axes(...sizes))) {
        const lies = (pattern: Combination) => pattern.filter((id) => !combination.includes(id)).length === 0
        const wanted = !matrix.exclude.some(lies) && (matrix.include.length === 0 || matrix.include.some(lies))
        assert.strictEqual(kept.has(combinationKey(combination)), wanted, combinationKey(combination))
      }
    }
  )

  it("combinations are at most 1,000 in one call", () => {
    assert.strictEqual(made(combinationsFor(axes(10, 10, 10), { mode: "all" })).length, 1000)
    assert.include(refusal(combinationsFor(axes(10, 10, 11), { mode: "all" })), "1000")
    assert.include(refusal(combinationsFor(axes(10, 10, 11), { mode: "matrix", matrix: {} })), "1000")
    assert.include(refusal(combinationsFor(axes(100, 201), { mode: "matrix", matrix: {} })), "20000")
  })

  it("combinations of a larger product can still be chosen by a matrix", () => {
    const chosen = combinationsFor(axes(10, 10, 11), {
      mode: "matrix",
      matrix: { include: [[value("c10")]] }
    })
    assert.strictEqual(made(chosen).length, 100)
  })

  it("combinations of mode manual are taken as given, in any letter case, the same one once", () => {
    const chosen = combinationsFor(axes(2, 2), {
      mode: "manual",
      combinations: [[value("a0"), value("b1")], [
        value("B1"),
        value("A0")
      ], [value("a1")]]
    })
    assert.deepStrictEqual(made(chosen).map(combinationKey), ["a0,b1", "a1"])
  })

  it("combinations in mode manual may name neither a foreign value nor two values of one option", () => {
    const unknown = combinationsFor(axes(2), { mode: "manual", combinations: [[value("x0")]] })
    assert.include(refusal(unknown), "x0")
    const twice = combinationsFor(axes(2), {
      mode: "manual",
      combinations: [[value("a0"), value("a1")]]
    })
    assert.include(refusal(twice), "two values")
  })
})
