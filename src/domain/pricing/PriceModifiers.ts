import { Context, DateTime, Effect, Layer } from "effect"
import { CurrentActor } from "../platform/access/Actor.ts"
import { notFound } from "../platform/errors/ErrorKinds.ts"
import { Hooks } from "../platform/hooks/Hooks.ts"
import { newId, type PriceModifierId } from "../platform/ids/Id.ts"
import type { PageRequest } from "../platform/paging/Paging.ts"
import {
  changedModifier,
  modifierOf,
  type NewPriceModifier,
  type PriceModifierChange,
  type PriceModifierFilter
} from "./PriceModifier.ts"
import { PriceModifierRepo } from "./PriceModifierRepo.ts"

class ModifierNotFound extends notFound("PriceModifier", "Price modifier not found.") {}

/** Rules that change resolved prices of an entity, a group or the complete store (contract §7). */
export class PriceModifiers extends Context.Service<PriceModifiers>()("stoa/domain/pricing/PriceModifiers", {
  make: Effect.gen(function*() {
    const repo = yield* PriceModifierRepo
    const hooks = yield* Hooks
    const clock = Effect.map(DateTime.now, DateTime.toDateUtc)

    /** Runs `pricing.afterCreate`. */
    const create = Effect.fn("PriceModifiers.create")(function*(input: NewPriceModifier) {
      const { organizationId } = yield* CurrentActor
      const now = yield* clock
      const modifier = yield* Effect.fromResult(modifierOf(input, { id: newId(), organizationId, now }))
      yield* repo.insert(modifier)
      yield* hooks.after("pricing.afterCreate", modifier)
      return modifier
    })

    /** Changes the sent fields only; runs `pricing.afterUpdate`. */
    const change = Effect.fn("PriceModifiers.change")(function*(id: PriceModifierId, input: PriceModifierChange) {
      const now = yield* clock
      const modifier = yield* repo.change(id, (before) => Effect.fromResult(changedModifier(before, input, now)))
      if (modifier === undefined) return yield* new ModifierNotFound()
      yield* hooks.after("pricing.afterUpdate", modifier)
      return modifier
    })

    const list = Effect.fn("PriceModifiers.list")(function*(filter: PriceModifierFilter, page: PageRequest) {
      return yield* repo.list(filter, yield* clock, page)
    })

    const remove = Effect.fn("PriceModifiers.remove")(function*(id: PriceModifierId) {
      if (!(yield* repo.remove(id))) return yield* new ModifierNotFound()
    })

    return { create, change, remove, list }
  })
}) {
  static readonly layer = Layer.effect(PriceModifiers, PriceModifiers.make)
}
