import { Context, Effect, Layer } from "effect"
import { NotFound, ValidationFailed } from "../../errors/ApiErrors.ts"
import { type Combination, combinationNamed, type CombinationRefusal, combinationsFor } from "./CombinationRules.ts"
import type { NewOptionType } from "./Option.ts"
import { OptionRepo } from "./OptionRepo.ts"
import type { Generate, NewVariant } from "./Variant.ts"
import { VariantRepo } from "./VariantRepo.ts"

/** Options of an entity and its variants (contract §1.2). */
export class Variants extends Context.Service<Variants>()("stoa/domain/catalog/variants/Variants", {
  make: Effect.gen(function*() {
    const options = yield* OptionRepo
    const variants = yield* VariantRepo

    /** 404 for an unknown entity, 409 for a name or value that exists. */
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

    /** 404 for an unknown entity, 422 for an unknown option or value, 409 for a SKU or combination that exists. */
    const create = Effect.fn("Variants.create")(function*(entityId: string, input: NewVariant) {
      const combination = combinationNamed(yield* axesOf(entityId), input.options)
      if (isRefusal(combination)) return yield* refused(combination)
      return (yield* variants.create(entityId, combination, input)) ?? (yield* unknownEntity)
    })

    /** Creates the missing variants. 404 for an unknown entity, 422 for invalid or too many combinations. */
    const generate = Effect.fn("Variants.generate")(function*(entityId: string, request: Generate) {
      const combinations = combinationsFor(yield* axesOf(entityId), request)
      if (isRefusal(combinations)) return yield* refused(combinations)
      return (yield* variants.createMissing(entityId, combinations, request.mode)) ?? (yield* unknownEntity)
    })

    return { createOptionType, createOptionValue, create, generate }
  })
}) {
  static readonly layer = Layer.effect(Variants, Variants.make)
}

const unknownEntity = NotFound.of("Catalog entity not found.")

const isRefusal = (
  made: Combination | ReadonlyArray<Combination> | CombinationRefusal
): made is CombinationRefusal => !Array.isArray(made)

const refused = ({ message, path }: CombinationRefusal) => ValidationFailed.of(path, message)
