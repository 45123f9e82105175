import { Effect, Layer } from "effect"
import { SqlClient, type SqlError } from "effect/sql"
import { Conflict } from "../errors/ApiErrors.ts"
import { recordRepo } from "../records/RecordRepo.ts"
import { recordService } from "../records/RecordService.ts"
import { Table } from "../records/Table.ts"
import { ShippingRuleCache } from "./ShippingRuleRepo.ts"
import { changedZone, newZone, ShippingZone } from "./ShippingZone.ts"
import { ShippingZones } from "./ShippingZones.ts"

export const zones = new Table("shipping_zones", ShippingZone)

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

/** `ShippingZones` over the database of the process. */
export const shippingZonesLayer = Layer.effect(
  ShippingZones,
  Effect.gen(function*() {
    const repo = recordRepo(yield* SqlClient.SqlClient, {
      table: zones,
      order: "priority, id",
      entityType: "shipping_zone",
      changes: { create: "shippingZones.create", update: "shippingZones.update", delete: "shippingZones.delete" }
    }, orConflict)
    const rules = { name: "Shipping zone", made: newZone, changed: changedZone }
    return recordService(rules, repo, (yield* ShippingRuleCache).forget)
  })
)
