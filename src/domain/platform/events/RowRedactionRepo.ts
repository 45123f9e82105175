import { Effect, Schema } from "effect"
import type { SqlClient } from "effect/sql"
import { decoding } from "../records/Rows.ts"

/** A row and its organization. */
export interface RowPlace {
  readonly organizationId: string
  readonly id: string
}

/** Rows of one kind whose entries lose values. */
export interface RowRedaction {
  /** Rows that are there, or were. */
  readonly places: ReadonlyArray<RowPlace>
  /** Kind of record of their changes. */
  readonly entityType: string
  /** Further types of events that may be about them. */
  readonly events: ReadonlyArray<string>
  /** Keys that become null, at any depth, beside what `outbox_anonymous` removes. */
  readonly keys: ReadonlyArray<string>
}

const Found = Schema.Struct({ id: Schema.String })

/**
 * Finds the ids of deleted rows of a kind by a value that their last entry has: reads the entries of deletions of this
 * kind in the organization.
 */
export const deletedRows = (
  sql: SqlClient.SqlClient,
  { column, entityType, organizationId, values }: {
    readonly organizationId: string
    readonly entityType: string
    readonly column: string
    readonly values: ReadonlyArray<string>
  }
) => {
  const about = sql`organization_id = ${organizationId} and type = ${`${entityType}.delete`}
    and payload->>${column} = any(${[...values]}::text[])`
  return decoding(sql, Found)`select entity_id as id from outbox_events where position is not null and ${about}
    union select entity_id from outbox_events where position is null and ${about}`
}

/**
 * Removes what is personal from all entries about these rows, within the transaction that erases or deletes them. Waits
 * for the relay, which locks the cursors of the organizations.
 */
export const redactRows = Effect.fnUntraced(function*(
  sql: SqlClient.SqlClient,
  { entityType, events, keys, places }: RowRedaction
) {
  if (places.length === 0) return
  const organizations = [...new Set(places.map(({ organizationId }) => organizationId))].sort()
  yield* sql`insert into outbox_cursors as h (organization_id) select unnest(${organizations}::text[])
    on conflict (organization_id) do update set organization_id = excluded.organization_id`
  yield* sql`select set_config('stoa.outbox_redaction', 'on', true)`
  const [ids, owners] = [places.map(({ id }) => id), places.map(({ organizationId }) => organizationId)]
  const types = [...events]
  yield* sql`with
    places as materialized (
      select * from unnest(${owners}::text[], ${ids}::text[]) as place (organization_id, entity_id)),
    found as materialized (
      select id, organization_id, entity_id from outbox_events where position is not null
        and organization_id = any(${organizations}::text[]) and entity_type = ${entityType}
        and entity_id = any(${ids}::text[])
      union select id, organization_id, entity_id from outbox_events where position is not null
        and organization_id = any(${organizations}::text[]) and type = any(${types}::text[])
        and entity_id = any(${ids}::text[])
      union select id, organization_id, entity_id from outbox_events where position is null
        and organization_id = any(${organizations}::text[]) and entity_id = any(${ids}::text[])
        and (entity_type = ${entityType} or type = any(${types}::text[]))),
    redacted as materialized (
      select e.id, outbox_blanked(outbox_anonymous(e.payload), ${[...keys]}::text[]) as payload,
        outbox_blanked(outbox_anonymous(e.before), ${[...keys]}::text[]) as before
      from found join places using (organization_id, entity_id) join outbox_events e on e.id = found.id)
    update outbox_events e set payload = n.payload, before = n.before, ip = null, user_agent = null
      from redacted n where e.id = n.id and (e.ip is not null or e.user_agent is not null
        or e.payload <> n.payload or e.before is distinct from n.before)`
  yield* sql`select set_config('stoa.outbox_redaction', '', true)`
})
