import { Context, DateTime, Effect, Layer } from "effect"
import { CurrentActor } from "../platform/access/Actor.ts"
import { Hooks } from "../platform/hooks/Hooks.ts"
import { newId, type PromotionId } from "../platform/ids/Id.ts"
import type { PageRequest } from "../platform/paging/Paging.ts"
import { StoreSettings } from "../platform/settings/StoreSettings.ts"
import {
  changedPromotion,
  type NewPromotion,
  type PromotionChange,
  PromotionNotFound,
  promotionOf,
  type PromotionStatus
} from "./Promotion.ts"
import { PromotionRepo } from "./PromotionRepo.ts"

/** Promotions (spec §4 Promotions, contract §8). */
export class Promotions extends Context.Service<Promotions>()("stoa/domain/promotions/Promotions", {
  make: Effect.gen(function*() {
    const repo = yield* PromotionRepo
    const hooks = yield* Hooks
    const { defaultCurrency } = yield* StoreSettings
    const clock = Effect.map(DateTime.now, DateTime.toDateUtc)

    /** 409 if the code is in use. Runs `promotions.afterCreate`. */
    const create = Effect.fn("Promotions.create")(function*(input: NewPromotion) {
      const { organizationId } = yield* CurrentActor
      const record = { id: newId<PromotionId>(), organizationId, now: yield* clock, defaultCurrency }
      const promotion = yield* Effect.fromResult(promotionOf(input, record))
      yield* repo.insert(promotion)
      yield* hooks.after("promotions.afterCreate", promotion)
      return promotion
    })

    /** Changes the sent fields only; runs `promotions.afterUpdate`. */
    const change = Effect.fn("Promotions.change")(function*(id: PromotionId, input: PromotionChange) {
      const now = yield* clock
      const promotion = yield* repo.change(
        id,
        (before) => Effect.fromResult(changedPromotion(before, input, { now, defaultCurrency }))
      )
      if (promotion === undefined) return yield* new PromotionNotFound()
      yield* hooks.after("promotions.afterUpdate", promotion)
      return promotion
    })

    const deactivate = Effect.fn("Promotions.deactivate")(function*(id: PromotionId) {
      const now = yield* clock
      let wasActive = false
      const promotion = yield* repo.change(id, (before) =>
        Effect.sync(() => {
          wasActive = before.isActive
          return { ...before, isActive: false, updatedAt: now }
        }))
      if (promotion === undefined) return yield* new PromotionNotFound()
      if (wasActive) yield* hooks.after("promotions.afterUpdate", promotion)
      return promotion
    })

    /** By priority; `active` is the default of the route. */
    const list = Effect.fn("Promotions.list")(function*(status: PromotionStatus, page: PageRequest) {
      return yield* repo.list(status, yield* clock, page)
    })

    return {
      create,
      change,
      deactivate,
      list,
      candidates: repo.candidates
    }
  })
}) {
  static readonly layer = Layer.effect(Promotions, Promotions.make)
}
