import type { SqlClient } from "effect/sql"
import type { Actor } from "../access/Actor.ts"
import { changeLogRows, isoTime } from "../events/ChangeLogRepo.ts"
import type { EventType } from "../events/Event.ts"
import { columnsOf, jsonOf } from "../records/Columns.ts"
import { CatalogEntity } from "./Entity.ts"
import type { EntityView, Expansions } from "./Expansion.ts"

/** The select list of an entity. */
export const entityColumns = (row: string) => columnsOf(CatalogEntity.fields, row)

/** An entity with the expansions that were selected with it. */
export interface EntityViewRow extends CatalogEntity {
  readonly expansions?: Expansions
}

export const toView = ({ expansions, ...entity }: EntityViewRow): EntityView => ({ ...entity, ...expansions })

/** An entity as the API shows it: an SQL text over a row of `catalog_entities`. */
export const entityJson = (row: string) =>
  jsonOf(CatalogEntity.fields, row, {
    createdAt: isoTime(`${row}.created_at`),
    updatedAt: isoTime(`${row}.updated_at`),
    publishedAt: isoTime(`${row}.published_at`)
  })

const withFields = (sql: SqlClient.SqlClient, entity: string, fields: object | undefined) =>
  fields === undefined
    ? entity
    : sql`${sql.literal(entity)} || jsonb_build_object('customFields', ${JSON.stringify(fields)}::jsonb)`

/**
 * Writes a catalog event for each entity row of the CTE `source`: `with x as (update … returning *), event as
 * (${entityEvent(…, "x")})`. `old` names the CTE with the rows before the change; `fields` holds the custom fields if
 * they were written too. No row, no event.
 */
export const entityEvent = (
  sql: SqlClient.SqlClient,
  actor: Actor,
  type: Extract<EventType, `catalog.${string}`>,
  source: string,
  old?: string,
  fields?: { readonly before: object; readonly after: object }
) =>
  changeLogRows(sql, actor, {
    type,
    entityType: "catalog_entity",
    entityId: "x.id::text",
    payload: withFields(sql, entityJson("x"), fields?.after),
    before: old === undefined ? undefined : withFields(sql, entityJson("o"), fields?.before),
    from: old === undefined ? `${source} x` : `${source} x join ${old} o on o.id = x.id`
  })
