import { Context, Effect, Layer } from "effect"
import type { CurrentActor } from "../access/Actor.ts"
import type { NotFound, ValidationFailed } from "../errors/ApiErrors.ts"
import { type RecordService, recordService } from "../modules/RecordService.ts"
import type { PageOf, PageRequest } from "../paging/Paging.ts"
import {
  changedRate,
  newRate,
  type NewShippingRate,
  type ShippingRate,
  type ShippingRateChange,
  type ShippingRateFilter
} from "./ShippingRate.ts"
import { ShippingRateRepo } from "./ShippingRateRepo.ts"
import { ShippingRuleCache } from "./ShippingRuleRepo.ts"

type Managed = RecordService<ShippingRate, NewShippingRate, ShippingRateChange, NotFound | ValidationFailed>

/**
 * Management of shipping rates (contract §3.4), by amount. 404 for an unknown zone. Orders that were shipped at a
 * removed rate keep its name and price.
 */
export class ShippingRates extends Context.Service<
  ShippingRates,
  Omit<Managed, "list"> & {
    readonly list: (
      filter: ShippingRateFilter,
      page: PageRequest
    ) => Effect.Effect<PageOf<ShippingRate>, never, CurrentActor>
  }
>()("stoa/domain/shipping/ShippingRates") {
  static readonly layer = Layer.effect(
    ShippingRates,
    Effect.gen(function*() {
      const repo = yield* ShippingRateRepo
      const rules = { name: "Shipping rate", made: newRate, changed: changedRate }
      return { ...recordService(rules, repo, (yield* ShippingRuleCache).forget), list: repo.listOf }
    })
  )
}
