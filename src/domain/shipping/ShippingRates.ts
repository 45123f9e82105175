import { Context, DateTime, Effect, Layer } from "effect"
import { CurrentActor } from "../access/Actor.ts"
import type { NotFound, ValidationFailed } from "../errors/ApiErrors.ts"
import { newId } from "../ids/Id.ts"
import type { PageOf, PageRequest } from "../paging/Paging.ts"
import {
  changedRate,
  type NewShippingRate,
  rateOf,
  type ShippingRate,
  type ShippingRateChange,
  type ShippingRateFilter
} from "./ShippingRate.ts"
import { ShippingRateRepo } from "./ShippingRateRepo.ts"
import { ShippingRuleCache } from "./ShippingRuleCache.ts"

/** Management of shipping rates (contract §3.4). */
export class ShippingRates extends Context.Service<ShippingRates, {
  /** A page by amount. */
  readonly list: (
    filter: ShippingRateFilter,
    page: PageRequest
  ) => Effect.Effect<PageOf<ShippingRate>, never, CurrentActor>
  readonly get: (id: string) => Effect.Effect<ShippingRate, NotFound, CurrentActor>
  /** A new rate; 404 for an unknown zone. */
  readonly create: (input: NewShippingRate) => Effect.Effect<ShippingRate, NotFound | ValidationFailed, CurrentActor>
  /** Changes the sent fields only; 404 for an unknown rate or zone. */
  readonly change: (
    id: string,
    input: ShippingRateChange
  ) => Effect.Effect<ShippingRate, NotFound | ValidationFailed, CurrentActor>
  /** Orders that were shipped at it keep its name and price. */
  readonly remove: (id: string) => Effect.Effect<void, NotFound, CurrentActor>
}>()("stoa/domain/shipping/ShippingRates") {
  static readonly layer = Layer.effect(
    ShippingRates,
    Effect.gen(function*() {
      const repo = yield* ShippingRateRepo
      const { forget } = yield* ShippingRuleCache
      const clock = Effect.map(DateTime.now, DateTime.toDateUtc)

      const create = Effect.fn("ShippingRates.create")(function*(input: NewShippingRate) {
        const { organizationId } = yield* CurrentActor
        const rate = yield* Effect.fromResult(rateOf(input, { id: newId(), organizationId, now: yield* clock }))
        yield* repo.insert(rate)
        yield* forget
        return rate
      })

      const change = Effect.fn("ShippingRates.change")(function*(id: string, input: ShippingRateChange) {
        const now = yield* clock
        const rate = yield* repo.change(id, (before) => changedRate(before, input, now))
        yield* forget
        return rate
      })

      const remove = (id: string) => Effect.andThen(repo.remove(id), forget)

      return { list: repo.list, get: repo.find, create, change, remove }
    })
  )
}
