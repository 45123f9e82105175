import { Context, type Effect } from "effect"
import type { CurrentActor } from "../access/Actor.ts"
import type { NotFound, ValidationFailed } from "../errors/ApiErrors.ts"
import type { PageOf, PageRequest } from "../paging/Paging.ts"
import type { RecordService } from "../records/RecordService.ts"
import type { NewShippingRate, ShippingRate, ShippingRateChange, ShippingRateFilter } from "./ShippingRate.ts"

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
>()("stoa/domain/shipping/ShippingRates") {}
