import { Effect, Schema } from "effect"
import { currentOrganization, type Database, type EntityId, rowsOf } from "stoa/plugin"

const slugRows = rowsOf(Schema.Struct({ slug: Schema.String }))

/**
 * Of these categories, by slug, those that lie neither among `approved` nor below one of them. A slug that names none yet is
 * a category that an import is about to make.
 */
export const outsideOf = Effect.fn("ApprovedCategoryRepo.outsideOf")(
  function*(sql: Database, slugs: ReadonlyArray<string>, approved: ReadonlyArray<string>) {
    const organization = yield* currentOrganization
    // `union` and the number of steps end a circle of parents.
    const rows = yield* slugRows(sql)`with recursive above as (
        select n.slug as name, n.slug, c.parent_id, 0 as steps from unnest(${slugs}::text[]) n(slug)
        left join categories c on c.organization_id = ${organization} and c.slug = n.slug
        union
        select a.name, c.slug, c.parent_id, a.steps + 1
        from above a join categories c on c.id = a.parent_id and c.organization_id = ${organization}
        where a.steps < 50)
      select distinct name as slug from above n
      where not exists (select 1 from above a where a.name = n.name and a.slug = any(${approved}::text[]))
      order by 1`
    return rows.map(({ slug }) => slug)
  },
  Effect.orDie
)

/** Slugs of the categories of an entity. */
export const categoriesOf = Effect.fn("ApprovedCategoryRepo.categoriesOf")(
  function*(sql: Database, entityId: EntityId) {
    const organization = yield* currentOrganization
    const rows = yield* slugRows(sql)`select c.slug from entity_categories l
    join categories c on c.id = l.category_id and c.organization_id = l.organization_id
    where l.organization_id = ${organization} and l.entity_id = ${entityId}::uuid`
    return rows.map(({ slug }) => slug)
  },
  Effect.orDie
)
