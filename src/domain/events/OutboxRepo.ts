import type { SqlClient } from "effect/sql"
import type { Actor } from "../access/Actor.ts"
import { newId } from "../ids/Id.ts"
import type { DomainEvent } from "./Event.ts"

/**
 * Appends events to the outbox as a part of the statement that writes what happened, `with e as (${…})`, so that nothing
 * is announced that was not committed and nothing committed stays unannounced. Which order they leave in is decided
 * after commit by the relay: a counter here would make all writers of an organization wait for one another. `guard`
 * names the part of that statement which must have written a row for the events to happen at all.
 */
export const outboxInsert = (
  sql: SqlClient.SqlClient,
  actor: Actor,
  events: ReadonlyArray<DomainEvent>,
  guard?: string
) =>
  sql`insert into outbox_events (id, organization_id, type, entity_type, entity_id, payload, actor_id, request_id)
    select (o->>'id')::uuid, ${actor.organizationId}, o->>'type', o->>'entityType', o->>'entityId', o->'payload',
      ${actor.userId}::text, ${actor.requestId}::text
    from jsonb_array_elements(${JSON.stringify(events.map((event) => ({ id: newId(), ...event })))}::jsonb) o
    ${guard === undefined ? sql.literal("") : sql.literal(`where exists (select 1 from ${guard})`)}`
