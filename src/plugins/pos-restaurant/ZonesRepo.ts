import { Schema } from "effect"
import { rowsOf, statement } from "stoa/plugin"

export const Zone = Schema.Struct({ zone: Schema.String, count: Schema.Int }).annotate({ identifier: "DiningZone" })

const zones = rowsOf(Zone)

/** Counts the tables of each zone. */
export const zonesOf = statement("Floor.zones", function*(sql, organizationId) {
  return yield* zones(sql`select zone, count(*)::int as count from pos_tables
    where organization_id = ${organizationId} group by zone order by zone`)
})
