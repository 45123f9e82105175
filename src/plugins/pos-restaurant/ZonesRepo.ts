import { Schema } from "effect"
import { about, rowsOf, statement } from "stoa/plugin"

export const Zone = Schema.Struct({ zone: Schema.String.pipe(about("Part of the house.")), count: Schema.Int })
  .annotate({ identifier: "DiningZone" })

const zones = rowsOf(Zone)

/** Counts the tables of each zone. */
export const zonesOf = statement("Floor.zones", function*(sql, organizationId) {
  return yield* zones(sql`select zone, count(*)::int as count from pos_tables
    where organization_id = ${organizationId} group by zone order by zone`)
})
