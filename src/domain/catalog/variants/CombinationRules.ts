import type { Generate } from "./Variant.ts"

/** Option value ids, at most one per option type, in the order of the axes. */
export type Combination = ReadonlyArray<string>

/** An option type with its values, in their order. */
export interface Axis {
  readonly name: string
  readonly values: ReadonlyArray<{ readonly id: string; readonly value: string }>
}

/** Why a request is invalid: the field and the reason. */
export interface CombinationRefusal {
  readonly path: string
  readonly message: string
}

/** Combinations per call (contract §1.2). */
export const maximumCombinations = 1000

/** Combinations that a matrix may examine; bounds the time of a call. */
export const maximumProduct = 20_000

/** Equal for the same values in any order. */
export const combinationKey = (combination: Combination): string => [...combination].toSorted().join(",")

const productSize = (axes: ReadonlyArray<Axis>): number => axes.reduce((size, axis) => size * axis.values.length, 1)

/** One value of every axis, the last axis turning fastest; one empty combination when there are no axes. */
export function* fullProduct(axes: ReadonlyArray<Axis>): Generator<Combination> {
  const [first, ...rest] = axes
  if (first === undefined) {
    yield []
    return
  }
  for (const { id } of first.values) {
    for (const tail of fullProduct(rest)) yield [id, ...tail]
  }
}

const contains = (combination: ReadonlySet<string>, pattern: Combination): boolean =>
  pattern.every((id) => combination.has(id))

const tooMany: CombinationRefusal = {
  path: "",
  message: `This would make more than ${maximumCombinations} combinations in one call.`
}

const all = (axes: ReadonlyArray<Axis>): ReadonlyArray<Combination> | CombinationRefusal =>
  productSize(axes) > maximumCombinations ? tooMany : [...fullProduct(axes)]

interface Matrix {
  readonly include?: ReadonlyArray<Combination> | undefined
  readonly exclude?: ReadonlyArray<Combination> | undefined
}

const lowerCased = (patterns: ReadonlyArray<Combination> | undefined): ReadonlyArray<Combination> =>
  (patterns ?? []).map((pattern) => pattern.map((id) => id.toLowerCase()))

const matrix = (axes: ReadonlyArray<Axis>, patterns: Matrix): ReadonlyArray<Combination> | CombinationRefusal => {
  if (productSize(axes) > maximumProduct) {
    return { path: "matrix", message: `The full product has more than ${maximumProduct} combinations.` }
  }
  const [include, exclude] = [lowerCased(patterns.include), lowerCased(patterns.exclude)]
  const result: Array<Combination> = []
  for (const combination of fullProduct(axes)) {
    const ids = new Set(combination)
    if (exclude.some((pattern) => contains(ids, pattern))) continue
    if (include.length > 0 && !include.some((pattern) => contains(ids, pattern))) continue
    if (result.length === maximumCombinations) return tooMany
    result.push(combination)
  }
  return result
}

const manual = (
  axes: ReadonlyArray<Axis>,
  combinations: ReadonlyArray<Combination>
): ReadonlyArray<Combination> | CombinationRefusal => {
  if (combinations.length > maximumCombinations) return tooMany
  const axisOf = new Map(axes.flatMap((axis, index) => axis.values.map(({ id }) => [id, index] as const)))
  const result = new Map<string, Combination>()
  for (const [index, given] of combinations.entries()) {
    const path = `combinations.${index}`
    const combination = given.map((id) => id.toLowerCase())
    const used = combination.map((id) => axisOf.get(id))
    const unknown = combination.find((id) => !axisOf.has(id))
    if (unknown !== undefined) return { path, message: `${unknown} is not an option value of this entity.` }
    if (new Set(used).size < used.length) return { path, message: "names two values of one option." }
    result.set(combinationKey(combination), combination)
  }
  return [...result.values()]
}

/** The combinations a request asks for, each once, or why it is refused (contract §1.2, matrix semantics). */
export const combinationsFor = (
  axes: ReadonlyArray<Axis>,
  request: Generate
): ReadonlyArray<Combination> | CombinationRefusal => {
  if (request.mode === "all") return all(axes)
  return request.mode === "manual" ? manual(axes, request.combinations) : matrix(axes, request.matrix)
}

/** The combination of a map of option names to values, or the first name or value that the entity does not have. */
export const combinationNamed = (
  axes: ReadonlyArray<Axis>,
  options: Readonly<Record<string, string>>
): Combination | CombinationRefusal => {
  const byName = new Map(axes.map((axis) => [axis.name, axis]))
  const combination: Array<string> = []
  for (const [name, value] of Object.entries(options)) {
    const axis = byName.get(name)
    const found = axis?.values.find((one) => one.value === value)
    if (axis === undefined) return { path: `options.${name}`, message: "is not an option of this entity." }
    if (found === undefined) return { path: `options.${name}`, message: `has no value '${value}'.` }
    combination.push(found.id)
  }
  return combination
}
