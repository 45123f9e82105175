import { Context } from "effect"
import type { Conflict, ValidationFailed } from "../errors/ApiErrors.ts"
import type { RecordService } from "../records/RecordService.ts"
import type { NewShippingZone, ShippingZone, ShippingZoneChange } from "./ShippingZone.ts"

/**
 * Management of shipping zones (contract §3.4), in the order in which they are tried. 409 if the name is in use, and for
 * the removal of a zone with rates: prices do not vanish because something else was deleted.
 */
export class ShippingZones extends Context.Service<
  ShippingZones,
  RecordService<ShippingZone, NewShippingZone, ShippingZoneChange, Conflict | ValidationFailed>
>()("stoa/domain/shipping/ShippingZones") {}
