import { Result, Schema } from "effect"
import { Issue } from "../../platform/errors/ApiErrors.ts"
import { invalid, notFound } from "../../platform/errors/ErrorKinds.ts"
import { about } from "../../platform/hints/Hints.ts"
import { EntityId, OptionTypeId, OptionValueId, OrganizationId, VariantId } from "../../platform/ids/Id.ts"
import { keyText, Metadata, ShortText } from "../../platform/text/Storable.ts"
import { ShownTaxClassId, taxClassInput } from "../Entity.ts"
import { variantStockPolicy, variantStockPolicyInput } from "../StockPolicy.ts"

/** One choice of an option type (contract §1.1); `displayValue` starts as the value. */
export const OptionValue = Schema.Struct({
  id: OptionValueId,
  optionTypeId: OptionTypeId,
  value: Schema.String.pipe(about("Name of the choice, such as `red`; unique in its option.")),
  displayValue: Schema.String.pipe(about("Value for shoppers.")),
  sortOrder: Schema.Int.pipe(about("Lower goes first.")),
  metadata: Metadata
}).annotate({ identifier: "OptionValue" })
export type OptionValue = typeof OptionValue.Type

/** An axis along which an entity varies; `displayName` starts as the name. */
export const OptionType = Schema.Struct({
  id: OptionTypeId,
  entityId: EntityId,
  name: Schema.String,
  displayName: Schema.String.pipe(about("Name for shoppers.")),
  sortOrder: Schema.Int.pipe(about("Lower goes first."))
}).annotate({ identifier: "OptionType" })
export type OptionType = typeof OptionType.Type

const Label = keyText(255)

export const NewOptionType = Schema.Struct({
  name: Label,
  values: Schema.optional(Schema.Array(Label).check(Schema.isMaxLength(1000))).pipe(
    about("Names of the choices, in their order.")
  )
})
export type NewOptionType = typeof NewOptionType.Type

export const NewOptionValue = Schema.Struct({
  value: Label.pipe(about("Name of the choice, such as `red`; unique in its option."))
})
export type NewOptionValue = typeof NewOptionValue.Type

/** One sellable combination of an entity's option values (contract §1.1); a combination exists once per entity. */
export const Variant = Schema.Struct({
  id: VariantId,
  entityId: EntityId,
  organizationId: OrganizationId,
  sourceStoreId: Schema.NullOr(Schema.String).pipe(about("Connected store it comes from.")),
  sku: Schema.NullOr(Schema.String),
  barcode: Schema.NullOr(Schema.String).pipe(about("EAN, UPC or another code.")),
  taxClass: Schema.NullOr(Schema.String).pipe(about("Code of its tax class; null: the entity's.")),
  taxClassId: ShownTaxClassId,
  ...variantStockPolicy,
  status: Schema.Literals(["active", "discontinued"]).pipe(about("A discontinued variant is no longer sold.")),
  sortOrder: Schema.Int.pipe(about("Lower goes first.")),
  metadata: Metadata,
  optionValueIds: Schema.Array(OptionValueId)
}).annotate({ identifier: "Variant" })
export type Variant = typeof Variant.Type

/** With what is not refused and yet worth a look. */
export const CreatedVariant = Schema.Struct({
  ...Variant.fields,
  warnings: Schema.optionalKey(Schema.Array(Issue))
})
export type CreatedVariant = typeof CreatedVariant.Type

const Code = Schema.optional(Schema.NullOr(Label))

/** `options` maps option names to values and may be empty. */
export const NewVariant = Schema.Struct({
  options: Schema.Record(Schema.String, ShortText).check(Schema.isMaxProperties(100)).pipe(
    about("Value of each option by its name, such as `{ \"size\": \"M\" }`; empty without options.")
  ),
  sku: Code,
  barcode: Code.pipe(about("EAN, UPC or another code.")),
  ...taxClassInput,
  ...variantStockPolicyInput
})
export type NewVariant = typeof NewVariant.Type

const Combinations = Schema.Array(Schema.Array(OptionValueId).check(Schema.isMaxLength(100))).check(
  Schema.isMaxLength(1000)
)

/** Which variants to make (contract §1.2). */
export const Generate = Schema.Union([
  Schema.Struct({ mode: Schema.Literal("all").pipe(about("Every combination of the values.")) }),
  Schema.Struct({
    mode: Schema.Literal("manual").pipe(about("Only the combinations that are sent.")),
    combinations: Combinations.pipe(about("Ids of values, one of each option."))
  }),
  Schema.Struct({
    mode: Schema.Literal("matrix").pipe(about("Every combination of the values, limited by `matrix`.")),
    matrix: Schema.Struct({
      include: Schema.optional(Combinations).pipe(
        about("Makes only combinations that contain all values of one of these patterns; empty: no limit.")
      ),
      exclude: Schema.optional(Combinations).pipe(
        about("Leaves out combinations that contain all values of one of these patterns.")
      )
    }).pipe(about("Patterns: ids of values of some of the options."))
  })
])
export type Generate = typeof Generate.Type

export class OptionTypeNotFound extends notFound("OptionType", "Option type not found.") {}

export class InvalidCombination extends invalid(
  "Combination",
  (path: string, _message: string, _code: string) => path,
  (_path, message) => message,
  (_path, _message, code) => code
) {}

export type Combination = ReadonlyArray<string>

export const Axis = Schema.Struct({
  name: Schema.String,
  values: Schema.Array(Schema.Struct({ id: Schema.String, value: Schema.String }))
})
export type Axis = typeof Axis.Type

type Checked<A> = Result.Result<A, InvalidCombination>

const refused = (path: string, message: string, code: string) =>
  Result.fail(new InvalidCombination(path, message, code))

const maximumCombinations = 1000

const maximumProduct = 20_000

const tooMany = refused("", `This would make more than ${maximumCombinations} combinations in one call.`, "too_many")

export const combinationKey = (combination: Combination): string => [...combination].toSorted().join(",")

const productSize = (axes: ReadonlyArray<Axis>): number => axes.reduce((size, axis) => size * axis.values.length, 1)

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

const lowerCased = (patterns: ReadonlyArray<Combination> = []): ReadonlyArray<Combination> =>
  patterns.map((pattern) => pattern.map((id) => id.toLowerCase()))

const matrix = (
  axes: ReadonlyArray<Axis>,
  patterns: Extract<Generate, { readonly mode: "matrix" }>["matrix"]
): Checked<ReadonlyArray<Combination>> => {
  if (productSize(axes) > maximumProduct) {
    return refused("matrix", `matrix must not make more than ${maximumProduct} combinations.`, "too_many")
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
  return Result.succeed(result)
}

const manual = (
  axes: ReadonlyArray<Axis>,
  combinations: ReadonlyArray<Combination>
): Checked<ReadonlyArray<Combination>> => {
  if (combinations.length > maximumCombinations) return tooMany
  const axisOf = new Map(axes.flatMap((axis, index) => axis.values.map(({ id }) => [id, index] as const)))
  const result = new Map<string, Combination>()
  for (const [index, combination] of lowerCased(combinations).entries()) {
    const path = `combinations.${index}`
    const unknown = combination.find((id) => !axisOf.has(id))
    if (unknown !== undefined) {
      return refused(path, `${path} must name option values of this entity, and ${unknown} is none.`, "not_found")
    }
    const used = new Set(combination.map((id) => axisOf.get(id)))
    if (used.size < combination.length) return refused(path, "must not name two values of one option.", "duplicate")
    result.set(combinationKey(combination), combination)
  }
  return Result.succeed([...result.values()])
}

export const combinationsFor = (
  axes: ReadonlyArray<Axis>,
  request: Generate
): Checked<ReadonlyArray<Combination>> => {
  if (request.mode === "manual") return manual(axes, request.combinations)
  if (request.mode === "matrix") return matrix(axes, request.matrix)
  return productSize(axes) > maximumCombinations ? tooMany : Result.succeed([...fullProduct(axes)])
}

export const combinationNamed = (
  axes: ReadonlyArray<Axis>,
  options: Readonly<Record<string, string>>
): Checked<Combination> => {
  const combination: Array<string> = []
  for (const [name, value] of Object.entries(options)) {
    const axis = axes.find((one) => one.name === name)
    const found = axis?.values.find((one) => one.value === value)
    if (axis === undefined) return refused(`options.${name}`, "is not an option of this entity.", "not_found")
    if (found === undefined) {
      return refused(`options.${name}`, `must be a value of this option, and '${value}' is none.`, "not_found")
    }
    combination.push(found.id)
  }
  return Result.succeed(combination)
}
