import type { SqlClient, Statement } from "effect/sql"

/** Words of a hit: those that stand for it, and all of them. */
const words = (sql: SqlClient.SqlClient, locales: ReadonlyArray<string> | undefined) => {
  const usual = `(a.locale = 'en') desc, a.locale collate "C"`
  const order = locales === undefined
    ? sql.literal(usual)
    : sql`array_position(${locales}::text[], a.locale) nulls last, ${sql.literal(usual)}`
  return sql`select (array_agg(a.title order by ${order}))[1] as title,
    (array_agg(a.description order by ${order}))[1] as description,
    string_agg(a.title, ' ' order by ${sql.literal(usual)}) as titles,
    string_agg(left(a.description, 4000), ' ' order by ${sql.literal(usual)}) as descriptions
  from entity_attributes a where a.entity_id = e.id and a.organization_id = e.organization_id`
}

/** A hit as the answer has it; what it has none of is left out. */
const hit = `jsonb_build_object('id', e.id, 'score', p.score, 'document',
  jsonb_build_object('id', e.id, 'organizationId', e.organization_id, 'type', e.type, 'slug', e.slug,
    'title', coalesce(w.title, e.slug), 'status', e.status, 'isVisible', e.is_visible,
    'categories', to_jsonb(d.categories), 'brands', to_jsonb(d.brands),
    'text', concat_ws(' ', e.slug, w.titles, w.descriptions,
      nullif(array_to_string(d.categories || d.brands, ' '), '')),
    'payload', jsonb_build_object('metadata', e.metadata))
  || case when w.description is null then '{}' else jsonb_build_object('description', w.description) end
  || case when d.attributes = '{}' then '{}' else jsonb_build_object('attributes', d.attributes) end)`

/** What is shown of the rows of `page` (`doc`, `sort_title`, `score`), the best first; words in the first of these locales. */
export const shown = (sql: SqlClient.SqlClient, locales: ReadonlyArray<string> | undefined): Statement.Fragment =>
  sql`(select coalesce(jsonb_agg(${sql.literal(hit)} order by p.score desc, p.sort_title, p.doc), '[]')
    from page p join search_documents d using (doc)
    join catalog_entities e on e.id = d.entity_id and e.organization_id = d.organization_id
    cross join lateral (${words(sql, locales)}) w)`
