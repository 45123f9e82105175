import { Context, DateTime, Effect, Layer } from "effect"
import { CurrentActor } from "../access/Actor.ts"
import type { Conflict, NotFound, ValidationFailed } from "../errors/ApiErrors.ts"
import { newId } from "../ids/Id.ts"
import type { PageOf, PageRequest } from "../paging/Paging.ts"
import { ShippingRuleCache } from "./ShippingRuleCache.ts"
import {
  changedZone,
  type NewShippingZone,
  type ShippingZone,
  type ShippingZoneChange,
  zoneOf
} from "./ShippingZone.ts"
import { ShippingZoneRepo } from "./ShippingZoneRepo.ts"

/** Management of shipping zones (contract §3.4). */
export class ShippingZones extends Context.Service<ShippingZones, {
  /** A page in the order in which zones are tried. */
  readonly list: (page: PageRequest) => Effect.Effect<PageOf<ShippingZone>, never, CurrentActor>
  readonly get: (id: string) => Effect.Effect<ShippingZone, NotFound, CurrentActor>
  /** Creates a zone; 409 if its name is in use. */
  readonly create: (input: NewShippingZone) => Effect.Effect<ShippingZone, Conflict | ValidationFailed, CurrentActor>
  /** Changes the sent fields only. */
  readonly change: (
    id: string,
    input: ShippingZoneChange
  ) => Effect.Effect<ShippingZone, NotFound | Conflict | ValidationFailed, CurrentActor>
  /** 409 while it has rates: prices do not vanish because something else was deleted. */
  readonly remove: (id: string) => Effect.Effect<void, NotFound | Conflict, CurrentActor>
}>()("stoa/domain/shipping/ShippingZones") {
  static readonly layer = Layer.effect(
    ShippingZones,
    Effect.gen(function*() {
      const repo = yield* ShippingZoneRepo
      const { forget } = yield* ShippingRuleCache
      const clock = Effect.map(DateTime.now, DateTime.toDateUtc)

      const create = Effect.fn("ShippingZones.create")(function*(input: NewShippingZone) {
        const { organizationId } = yield* CurrentActor
        const zone = yield* Effect.fromResult(zoneOf(input, { id: newId(), organizationId, now: yield* clock }))
        yield* repo.insert(zone)
        yield* forget
        return zone
      })

      const change = Effect.fn("ShippingZones.change")(function*(id: string, input: ShippingZoneChange) {
        const now = yield* clock
        const zone = yield* repo.change(id, (before) => changedZone(before, input, now))
        yield* forget
        return zone
      })

      const remove = (id: string) => Effect.andThen(repo.remove(id), forget)

      return { list: repo.list, get: repo.find, create, change, remove }
    })
  )
}
