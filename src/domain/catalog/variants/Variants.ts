import { Context, Effect, Layer } from "effect"
import type { CurrentActor } from "../../access/Actor.ts"
import { type Conflict, NotFound, ValidationFailed } from "../../errors/ApiErrors.ts"
import { type Combination, combinationNamed, type CombinationRefusal, combinationsFor } from "./CombinationRules.ts"
import type { NewOptionType, OptionType, OptionValue } from "./Option.ts"
import { OptionRepo } from "./OptionRepo.ts"
import type { Generate, NewVariant, Variant } from "./Variant.ts"
import { VariantRepo } from "./VariantRepo.ts"

/** Options of an entity and its variants (contract §1.2). */
export class Variants extends Context.Service<Variants, {
  /** 404 for an unknown entity, 409 for a name or value that exists. */
  readonly createOptionType: (
    entityId: string,
    input: NewOptionType
  ) => Effect.Effect<OptionType, NotFound | Conflict, CurrentActor>
  readonly createOptionValue: (
    optionTypeId: string,
    value: string
  ) => Effect.Effect<OptionValue, NotFound | Conflict, CurrentActor>
  /** 404 for an unknown entity, 422 for an unknown option or value, 409 for a SKU or combination that exists. */
  readonly create: (
    entityId: string,
    input: NewVariant
  ) => Effect.Effect<Variant, NotFound | Conflict | ValidationFailed, CurrentActor>
  /** Creates the missing variants. 404 for an unknown entity, 422 for invalid or too many combinations. */
  readonly generate: (
    entityId: string,
    request: Generate
  ) => Effect.Effect<ReadonlyArray<Variant>, NotFound | ValidationFailed, CurrentActor>
}>()("stoa/domain/catalog/variants/Variants") {
  static readonly layer = Layer.effect(
    Variants,
    Effect.gen(function*() {
      const options = yield* OptionRepo
      const variants = yield* VariantRepo

      const createOptionType = Effect.fn("Variants.createOptionType")(
        function*(entityId: string, input: NewOptionType) {
          return (yield* options.createType(entityId, input)) ?? (yield* unknownEntity)
        }
      )

      const createOptionValue = Effect.fn("Variants.createOptionValue")(
        function*(optionTypeId: string, value: string) {
          const made = yield* options.createValue(optionTypeId, value)
          return made ?? (yield* NotFound.of("Option type not found."))
        }
      )

      const axesOf = Effect.fnUntraced(function*(entityId: string) {
        return (yield* options.axes(entityId)) ?? (yield* unknownEntity)
      })

      const create = Effect.fn("Variants.create")(function*(entityId: string, input: NewVariant) {
        const combination = combinationNamed(yield* axesOf(entityId), input.options)
        if (isRefusal(combination)) return yield* refused(combination)
        return (yield* variants.create(entityId, combination, input)) ?? (yield* unknownEntity)
      })

      const generate = Effect.fn("Variants.generate")(function*(entityId: string, request: Generate) {
        const combinations = combinationsFor(yield* axesOf(entityId), request)
        if (isRefusal(combinations)) return yield* refused(combinations)
        return (yield* variants.createMissing(entityId, combinations, request.mode)) ?? (yield* unknownEntity)
      })

      return { createOptionType, createOptionValue, create, generate }
    })
  )
}

const unknownEntity = NotFound.of("Catalog entity not found.")

const isRefusal = (
  made: Combination | ReadonlyArray<Combination> | CombinationRefusal
): made is CombinationRefusal => !Array.isArray(made)

const refused = ({ message, path }: CombinationRefusal) => ValidationFailed.of(path, message)
