import { Context, Effect, Layer } from "effect"
import { SqlClient, type SqlError } from "effect/sql"
import { Conflict } from "../errors/ApiErrors.ts"
import { type RecordRepo, recordRepo } from "../modules/RecordRepo.ts"
import { ShippingZone } from "./ShippingZone.ts"

/** Shipping zones, in matching order. 409 when another zone has the name, and for a removal while it has rates. */
export class ShippingZoneRepo extends Context.Service<ShippingZoneRepo, RecordRepo<ShippingZone, Conflict>>()(
  "stoa/domain/shipping/ShippingZoneRepo"
) {}

const orConflict = (error: SqlError.SqlError) => {
  const { reason } = error
  if (reason._tag === "UniqueViolation" && reason.constraint === "shipping_zones_name") {
    return Effect.fail(Conflict.of("A shipping zone with this name already exists."))
  }
  // The foreign key of the rates: a rate added concurrently keeps the zone.
  return reason._tag === "ConstraintError"
    ? Effect.fail(Conflict.of("There are rates in this zone. Delete them first."))
    : Effect.die(error)
}

/** `ShippingZoneRepo` over the database. */
export const shippingZoneRepoLayer = Layer.effect(
  ShippingZoneRepo,
  Effect.map(SqlClient.SqlClient, (sql) =>
    recordRepo<ShippingZone, Conflict>(sql, {
      table: "shipping_zones",
      fields: ShippingZone.fields,
      order: "priority, id",
      entityType: "shipping_zone",
      changes: { create: "shippingZones.create", update: "shippingZones.update", delete: "shippingZones.delete" }
    }, orConflict))
)
