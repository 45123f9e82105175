import type { SqlClient } from "effect/sql"
import type { Actor } from "../access/Actor.ts"
import type { EventType } from "../events/Event.ts"
import { isoTime, journalRows } from "../events/JournalRepo.ts"

/** An entity as the API shows it: an SQL text over a row of `catalog_entities`. */
export const entityJson = (row: string) =>
  `jsonb_build_object('id', ${row}.id, 'organizationId', ${row}.organization_id, 'sourceStoreId', ${row}.source_store_id,
    'type', ${row}.type, 'slug', ${row}.slug, 'status', ${row}.status, 'isVisible', ${row}.is_visible,
    'taxClass', ${row}.tax_class, 'metadata', ${row}.metadata, 'createdAt', ${isoTime(`${row}.created_at`)},
    'updatedAt', ${isoTime(`${row}.updated_at`)}, 'publishedAt', ${isoTime(`${row}.published_at`)})`

const withFields = (sql: SqlClient.SqlClient, entity: string, fields: object | undefined) =>
  fields === undefined
    ? entity
    : sql`${sql.literal(entity)} || jsonb_build_object('customFields', ${JSON.stringify(fields)}::jsonb)`

/**
 * Writes a catalog event into the journal for each entity row of `source`, a part of the same statement: `with x as
 * (update … returning *), event as (${entityEvent(…, "x")})`. The payload is the row after the change, as the API shows
 * it; `old` names the part that has the rows before it, and `fields` the custom fields where they were written too. A
 * change that wrote no row announces nothing.
 */
export const entityEvent = (
  sql: SqlClient.SqlClient,
  actor: Actor,
  type: Extract<EventType, `catalog.${string}`>,
  source: string,
  old?: string,
  fields?: { readonly before: object; readonly after: object }
) =>
  journalRows(sql, actor, {
    type,
    entityType: "catalog_entity",
    entityId: "x.id::text",
    payload: withFields(sql, entityJson("x"), fields?.after),
    before: old === undefined ? undefined : withFields(sql, entityJson("o"), fields?.before),
    from: old === undefined ? `${source} x` : `${source} x join ${old} o on o.id = x.id`
  })
