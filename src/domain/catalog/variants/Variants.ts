import { Context, Effect, Layer } from "effect"
import type { EntityId } from "../../platform/ids/Id.ts"
import { sharedSku } from "../SharedSku.ts"
import { combinationNamed, combinationsFor, type CreatedVariant, type Generate, type NewVariant } from "./Variant.ts"
import { VariantRepo } from "./VariantRepo.ts"

/** Options of an entity and its variants (contract §1.2). */
export class Variants extends Context.Service<Variants>()("stoa/domain/catalog/variants/Variants", {
  make: Effect.gen(function*() {
    const { axes, create, createMissing, createOptionType, createOptionValue } = yield* VariantRepo
    return {
      createOptionType,
      createOptionValue,

      /**
       * 404 for an unknown entity, 422 for an unknown option or value, 409 for a combination that exists, and for a SKU that
       * exists where they are unique (`catalog.uniqueSkus`); else a warning says who shares it.
       */
      create: Effect.fn("Variants.create")(function*(entityId: EntityId, input: NewVariant) {
        const combination = yield* Effect.fromResult(combinationNamed(yield* axes(entityId), input.options))
        const { sharedWith, variant } = yield* create(entityId, combination, input)
        const made: CreatedVariant = sharedWith.length === 0
          ? variant
          : { ...variant, warnings: [sharedSku("sku", variant.sku, sharedWith)] }
        return made
      }),

      /** Creates the missing variants. 404 for an unknown entity, 422 for invalid or too many combinations. */
      generate: Effect.fn("Variants.generate")(function*(entityId: EntityId, request: Generate) {
        const combinations = yield* Effect.fromResult(combinationsFor(yield* axes(entityId), request))
        return yield* createMissing(entityId, combinations, request.mode)
      })
    }
  })
}) {
  static readonly layer = Layer.effect(Variants, Variants.make)
}
