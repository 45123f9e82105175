import type { SqlClient } from "effect/sql"
import type { Actor } from "../access/Actor.ts"
import type { EventType } from "../events/Event.ts"
import { newId } from "../ids/Id.ts"

/** A time as the API shows it: ISO 8601, milliseconds, Z. */
export const isoTime = (column: string) => `to_char(${column} at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`

const entityJson = `jsonb_build_object('id', id, 'organizationId', organization_id, 'sourceStoreId', source_store_id,
  'type', type, 'slug', slug, 'status', status, 'isVisible', is_visible, 'taxClass', tax_class, 'metadata', metadata,
  'createdAt', ${isoTime("created_at")}, 'updatedAt', ${isoTime("updated_at")},
  'publishedAt', ${isoTime("published_at")})`

/**
 * Appends a catalog event for each entity row of `source`, a part of the same statement: `with x as (update … returning
 * *), event as (${entityEvent(…, "x")})`. The payload is the row after the change, as the API shows it, and a change
 * that wrote no row announces nothing.
 */
export const entityEvent = (
  sql: SqlClient.SqlClient,
  actor: Actor,
  type: Extract<EventType, `catalog.${string}`>,
  source: string
) =>
  sql`insert into outbox_events (id, organization_id, type, entity_type, entity_id, payload, actor_id, request_id)
    select ${newId()}::uuid, organization_id, ${type}, 'catalog_entity', id::text, ${sql.literal(entityJson)},
      ${actor.userId}::text, ${actor.requestId}::text
    from ${sql.literal(source)}`
