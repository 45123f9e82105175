import type { SqlClient, Statement } from "effect/sql"
import { offsetOf } from "../platform/paging/Paging.ts"
import type { Found } from "./SearchEngine.ts"
import { facetAttribute, type SearchQuery } from "./SearchQuery.ts"

export interface SearchInput {
  readonly organization: string
  readonly query: SearchQuery
  readonly publicOnly: boolean
  readonly isForgiving: boolean
}

const queryTerms = (sql: SqlClient.SqlClient, { isForgiving, organization, publicOnly, query }: SearchInput) => {
  const terms = query.q === undefined
    ? sql`null::tsquery[]`
    : isForgiving
    ? sql`search_similar_terms(${organization}, ${query.q}, ${publicOnly}::boolean)`
    : sql`search_terms(${organization}, ${query.q})`
  return sql`asked as materialized (select terms,
    (select string_agg('(' || term::text || ')', ' & ')::tsquery from unnest(terms) term) as every_term
    from (select ${terms} as terms offset 0) typed)`
}

const predicate = (sql: SqlClient.SqlClient, { organization, publicOnly, query }: SearchInput): Statement.Fragment => {
  const { attributes, brand, category, numbers = [], q, status, type } = query
  const everyTerm = sql.literal("(select every_term from asked)")
  return sql.and([
    sql`d.organization_id = ${organization}`,
    ...publicOnly ? [sql`d.is_public`] : [],
    ...type === undefined ? [] : [sql`d.type = ${type}`],
    ...status === undefined ? [] : [sql`d.status = ${status}`],
    ...category === undefined ? [] : [sql`d.categories @> ${[category]}::text[]`],
    ...brand === undefined ? [] : [sql`d.brands @> ${[brand]}::text[]`],
    ...attributes.map(({ name, values }) =>
      sql.or(values.map((value) => sql`d.attributes @> jsonb_build_object(${name}::text, ${[value]}::text[])`))
    ),
    ...numbers.map(({ name, ranges }) =>
      sql.or(
        ranges.map(({ from = null, to = null }) =>
          sql`(d.sort_values->>${name}::text)::float8 between coalesce(${from}::float8, '-infinity') and coalesce(${to}::float8, 'infinity')`
        )
      )
    ),
    ...q === undefined
      ? []
      : [publicOnly ? sql`d.words @@ ${everyTerm}` : sql`(d.words @@ ${everyTerm} or d.staff_words @@ ${everyTerm})`]
  ])
}

const scoredTerms = 8

/** Two for each word in the title, one for each elsewhere: every word of a hit matches somewhere. */
const score = ["coalesce(cardinality((select terms from asked)), 0)"].concat(Array.from(
  { length: scoredTerms },
  (_, n) => `coalesce((d.title_words @@ (select terms[${n + 1}] from asked))::int, 0)`
)).join(" + ")

/** Documents with the same values are counted together first (`facet_groups`). */
const counts = (sql: SqlClient.SqlClient, facet: string): Statement.Fragment => {
  const attribute = facetAttribute(facet)
  if (attribute !== undefined) {
    return sql`select v as value, sum(n)::int8 as n
      from attribute_groups, jsonb_array_elements_text(attributes -> ${attribute}::text) v group by 1`
  }
  const value = { category: "unnest(categories)", brand: "unnest(brands)" }[facet] ?? facet
  return sql.literal(`select ${value} as value, sum(n)::int8 as n from facet_groups group by 1`)
}

/** `{ facet: { value: count } }`. */
const facetCounts = (sql: SqlClient.SqlClient, { facets }: SearchQuery): Statement.Fragment =>
  facets.length === 0 ?
    sql.literal("'{}'::jsonb") :
    sql`jsonb_build_object(${
      sql.csv(
        facets.map((name) =>
          sql`${name}::text, (select coalesce(jsonb_object_agg(value, n), '{}') from (${counts(sql, name)}) f)`
        )
      )
    })`

const wordsOf = (sql: SqlClient.SqlClient, locales: ReadonlyArray<string> | undefined) => {
  const usual = `(a.locale = 'en') desc, a.locale collate "C"`
  const order = locales === undefined
    ? sql.literal(usual)
    : sql`array_position(${locales}::text[], a.locale) nulls last, ${sql.literal(usual)}`
  return sql`select (array_agg(a.title order by ${order}))[1] as title,
    (array_agg(a.description order by ${order}))[1] as description,
    string_agg(a.title, ' ' order by ${sql.literal(usual)}) as titles,
    string_agg(left(a.description, 4000), ' ' order by ${sql.literal(usual)}) as descriptions
  from entity_attributes_read a where a.entity_id = e.id and a.organization_id = e.organization_id`
}

const hit = `jsonb_build_object('id', e.id, 'score', p.score, 'document',
  jsonb_build_object('id', e.id, 'organizationId', e.organization_id, 'type', e.type, 'slug', e.slug,
    'title', coalesce(w.title, e.slug), 'status', e.status, 'isVisible', e.is_visible,
    'categories', to_jsonb(p.categories), 'brands', to_jsonb(p.brands),
    'text', concat_ws(' ', e.slug, w.titles, w.descriptions,
      nullif(array_to_string(p.categories || p.brands, ' '), '')),
    'payload', jsonb_build_object('metadata', e.metadata))
  || case when w.description is null then '{}' else jsonb_build_object('description', w.description) end
  || case when p.attributes = '{}' then '{}' else jsonb_build_object('attributes', p.attributes) end)`

export const searchStatement = (sql: SqlClient.SqlClient, input: SearchInput) => {
  const { limit, locales, q, sort } = input.query
  const order = (row: string) =>
    sql.literal(
      `${sort === undefined ? "" : `${row}.sorted ${sort.ascending ? "asc" : "desc"} nulls last, `}${row}.score desc,
        ${row}.sort_title, ${row}.entity_id`
    )
  const sorted = sort === undefined ? sql.literal("null") : sql`(d.sort_values->>${sort.name}::text)::float8`
  return sql<Omit<Found, "total"> & { readonly total: bigint }>`with ${queryTerms(sql, input)},
    found as materialized (select d.entity_id, d.sort_title, d.type, d.status, d.categories, d.brands, d.attributes, ${sorted} as sorted,
      ${sql.literal(q === undefined ? "0" : score)} as score
      from search_documents d where ${predicate(sql, input)}),
    page as (select * from found f order by ${order("f")} limit ${limit} offset ${offsetOf(input.query)}),
    facet_groups as materialized (
      select type, status, categories, brands, count(*) as n from found group by 1, 2, 3, 4),
    attribute_groups as (select attributes, count(*) as n from found group by 1)
    select (select coalesce(sum(n), 0)::int8 from facet_groups) as total, ${facetCounts(sql, input.query)} as facets,
      (select coalesce(jsonb_agg(${sql.literal(hit)} order by ${order("p")}), '[]')
        from page p join catalog_entities_read e on e.id = p.entity_id and e.organization_id = ${input.organization}
        cross join lateral (${wordsOf(sql, locales)}) w) as hits`
}
