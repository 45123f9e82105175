import { Schema } from "effect"
import { type EntityId, rowsOf, statement } from "stoa/plugin"

const places = rowsOf(Schema.Struct({ name: Schema.String, slug: Schema.String, steps: Schema.Int }))
const slugs = rowsOf(Schema.Struct({ slug: Schema.String }))

/**
 * Categories of the core by their slugs, each with itself and those above it by the number of steps up. A slug that names none
 * is alone: an import may be about to make it.
 */
export const readAncestors = statement(
  "CategoryRepo.readAncestors",
  function*(sql, organization, names: ReadonlyArray<string>) {
    // `union` and the number of steps end a circle of parents.
    const rows = yield* places(sql`with recursive above as (
        select n.slug as name, n.slug, c.parent_id, 0 as steps from unnest(${names}::text[]) n(slug)
        left join plugin_categories c on c.organization_id = ${organization} and c.slug = n.slug
        union
        select a.name, c.slug, c.parent_id, a.steps + 1
        from above a join plugin_categories c on c.id = a.parent_id and c.organization_id = ${organization}
        where a.steps < 50)
      select name, slug, min(steps)::int4 as steps from above group by name, slug`)
    const byName = Map.groupBy(rows, ({ name }) => name)
    return new Map([...byName].map(([name, above]) => [name, new Map(above.map(({ slug, steps }) => [slug, steps]))]))
  }
)

/** Slugs of the categories of an entity. */
export const categoriesOf = statement("CategoryRepo.categoriesOf", function*(sql, organization, entityId: EntityId) {
  const rows = yield* slugs(sql`select c.slug from plugin_entity_categories l
    join plugin_categories c on c.id = l.category_id and c.organization_id = l.organization_id
    where l.organization_id = ${organization} and l.entity_id = ${entityId}::uuid`)
  return rows.map(({ slug }) => slug)
})
