import { Schema } from "effect"
import { type Database, EntityId, rowsOf, statement } from "stoa/plugin"

const groups = rowsOf(
  Schema.Struct({ id: EntityId, title: Schema.NullOr(Schema.String), group: Schema.NullOr(Schema.String) })
)

/** SQL of the title of an entity `e`. */
export const titleIn = (sql: Database) =>
  sql.literal(`(select t.title from plugin_entity_titles t
    where t.organization_id = e.organization_id and t.entity_id = e.id order by t.locale <> 'en', t.locale limit 1)`)

/** SQL of the item group of an entity `e`. */
export const itemGroupIn = (sql: Database) =>
  sql.literal(`coalesce(nullif(e.metadata->>'itemGroup', ''), (select c.slug from plugin_entity_categories ec
    join plugin_categories c on c.organization_id = ec.organization_id and c.id = ec.category_id
    where ec.organization_id = e.organization_id and ec.entity_id = e.id
    order by ec.sort_order, c.slug limit 1))`)

/** Reads the item group of entities: `metadata.itemGroup`, else the slug of their first category. One statement. */
export const itemGroupsOf = statement(
  "Restaurant.itemGroups",
  function*(sql, organizationId, entityIds: ReadonlyArray<EntityId>) {
    const found = yield* groups(sql`select e.id, ${titleIn(sql)} as title, ${itemGroupIn(sql)} as "group"
      from plugin_entities e
      where e.organization_id = ${organizationId} and e.id = any(${entityIds}::uuid[])`)
    return new Map(found.map((row) => [row.id, row]))
  }
)
