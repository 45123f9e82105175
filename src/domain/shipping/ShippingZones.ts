import { Context, Effect, Layer } from "effect"
import type { Conflict, ValidationFailed } from "../errors/ApiErrors.ts"
import { type RecordService, recordService } from "../modules/RecordService.ts"
import { ShippingRuleCache } from "./ShippingRuleRepo.ts"
import {
  changedZone,
  type NewShippingZone,
  newZone,
  type ShippingZone,
  type ShippingZoneChange
} from "./ShippingZone.ts"
import { ShippingZoneRepo } from "./ShippingZoneRepo.ts"

/**
 * Management of shipping zones (contract §3.4), in the order in which they are tried. 409 if the name is in use, and for
 * the removal of a zone with rates: prices do not vanish because something else was deleted.
 */
export class ShippingZones extends Context.Service<
  ShippingZones,
  RecordService<ShippingZone, NewShippingZone, ShippingZoneChange, Conflict | ValidationFailed>
>()("stoa/domain/shipping/ShippingZones") {
  static readonly layer = Layer.effect(
    ShippingZones,
    Effect.gen(function*() {
      const rules = { name: "Shipping zone", made: newZone, changed: changedZone }
      return recordService(rules, yield* ShippingZoneRepo, (yield* ShippingRuleCache).forget)
    })
  )
}
