import { Effect } from "effect"
import { currentOrganization, type Database } from "stoa/plugin"

/**
 * Of these categories, named by id or slug, the slugs of those that lie neither among `approved` nor below one of them. A
 * slug that names none yet is a category that an import is about to make; an id that names none is not looked at.
 */
export const outsideOf = Effect.fn("ApprovedCategoryRepo.outsideOf")(
  function*(sql: Database, names: ReadonlyArray<string>, approved: ReadonlyArray<string>) {
    const organization = yield* currentOrganization
    // `union` and the number of steps end a circle of parents.
    const rows = yield* sql<{ readonly slug: string }>`with recursive named as (
        select n.name, coalesce(c.slug, n.name) as slug, c.parent_id
        from unnest(${names}::text[]) n(name)
        left join categories c on c.organization_id = ${organization} and (c.slug = n.name or c.id::text = lower(n.name))
        where c.id is not null or n.name !~* '^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$'),
      above as (
        select name, slug, parent_id, 0 as steps from named
        union
        select a.name, c.slug, c.parent_id, a.steps + 1
        from above a join categories c on c.id = a.parent_id and c.organization_id = ${organization}
        where a.steps < 50)
      select distinct slug from named n
      where not exists (select 1 from above a where a.name = n.name and a.slug = any(${approved}::text[]))
      order by slug`
    return rows.map(({ slug }) => slug)
  },
  Effect.orDie
)

/** Ids of the categories that an entity lies in. */
export const categoriesOf = Effect.fn("ApprovedCategoryRepo.categoriesOf")(function*(sql: Database, entityId: string) {
  const organization = yield* currentOrganization
  const rows = yield* sql<{ readonly id: string }>`select category_id as id from entity_categories
    where organization_id = ${organization} and entity_id = ${entityId}::uuid`
  return rows.map(({ id }) => id)
}, Effect.orDie)
