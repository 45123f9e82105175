import { Context, Effect, Layer } from "effect"
import { EntityNotFound } from "../Entity.ts"
import {
  combinationNamed,
  combinationsFor,
  type Generate,
  type NewOptionType,
  type NewVariant,
  OptionTypeNotFound
} from "./Variant.ts"
import { VariantRepo } from "./VariantRepo.ts"

/** Options of an entity and its variants (contract §1.2). */
export class Variants extends Context.Service<Variants>()("stoa/domain/catalog/variants/Variants", {
  make: Effect.gen(function*() {
    const repo = yield* VariantRepo

    /** 404 for an unknown entity, 409 for a name or value that exists. */
    const createOptionType = Effect.fn("Variants.createOptionType")(
      function*(entityId: string, input: NewOptionType) {
        return (yield* repo.createOptionType(entityId, input)) ?? (yield* new EntityNotFound())
      }
    )

    const createOptionValue = Effect.fn("Variants.createOptionValue")(
      function*(optionTypeId: string, value: string) {
        return (yield* repo.createOptionValue(optionTypeId, value)) ?? (yield* new OptionTypeNotFound())
      }
    )

    const axesOf = Effect.fnUntraced(function*(entityId: string) {
      return (yield* repo.axes(entityId)) ?? (yield* new EntityNotFound())
    })

    /** 404 for an unknown entity, 422 for an unknown option or value, 409 for a SKU or combination that exists. */
    const create = Effect.fn("Variants.create")(function*(entityId: string, input: NewVariant) {
      const combination = yield* Effect.fromResult(combinationNamed(yield* axesOf(entityId), input.options))
      return (yield* repo.create(entityId, combination, input)) ?? (yield* new EntityNotFound())
    })

    /** Creates the missing variants. 404 for an unknown entity, 422 for invalid or too many combinations. */
    const generate = Effect.fn("Variants.generate")(function*(entityId: string, request: Generate) {
      const combinations = yield* Effect.fromResult(combinationsFor(yield* axesOf(entityId), request))
      return (yield* repo.createMissing(entityId, combinations, request.mode)) ?? (yield* new EntityNotFound())
    })

    return { createOptionType, createOptionValue, create, generate }
  })
}) {
  static readonly layer = Layer.effect(Variants, Variants.make)
}
