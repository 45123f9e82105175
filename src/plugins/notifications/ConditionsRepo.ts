import { Schema } from "effect"
import { rowsOf, statement } from "stoa/plugin"

const Latest = Schema.Struct({ eventId: Schema.String, record: Schema.Record(Schema.String, Schema.Unknown) })

const latest = rowsOf(Latest)

/** The records of these events as their last relayed event shows them, in one statement; none whose entry was purged. */
export const latestRecords = statement(
  "Conditions.latest",
  function*(sql, organizationId, eventIds: ReadonlyArray<string>) {
    return yield* latest(sql`select e.id as "eventId", newest.payload as record
      from plugin_events e cross join lateral (select x.payload from plugin_events x
        where x.organization_id = e.organization_id and x.entity_type = e.entity_type and x.entity_id = e.entity_id
          and x.position is not null
        order by x.created_at desc, x.entry_number desc limit 1) newest
      where e.organization_id = ${organizationId} and e.id = any(${eventIds}::uuid[])`)
  }
)
