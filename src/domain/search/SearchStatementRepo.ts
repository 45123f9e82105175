import type { SqlClient } from "effect/sql"
import { offsetOf } from "../paging/Paging.ts"
import type { SearchHit } from "./SearchDocument.ts"
import type { Found } from "./SearchEngine.ts"
import { facetAttribute, type SearchQuery } from "./SearchQuery.ts"

/** What a statement searches for, in whose catalog, and whether it forgives typing errors. */
export interface Asked {
  readonly organization: string
  readonly query: SearchQuery
  readonly publicOnly: boolean
  readonly isForgiving: boolean
}

/** The one row of an answer. */
export interface FoundRow {
  readonly total: bigint
  readonly facets: Found["facets"]
  readonly hits: ReadonlyArray<SearchHit>
}

/** Words beyond this many are looked for as well, but a hit in the title counts no more than one elsewhere. */
const scoredWords = 8

/** Marks hold this many characters of a name and its value, see `DocumentsRepo`. */
const longestMark = 300

const cut = (text: string): string => Array.from(text).slice(0, longestMark).join("")

/** Conditions on documents `d` but for the words. */
const filters = (sql: SqlClient.SqlClient, { organization, publicOnly, query }: Asked) => {
  const clauses = [sql`d.organization_id = ${organization}`]
  if (publicOnly) clauses.push(sql`d.is_public`)
  if (query.type !== undefined) clauses.push(sql`d.type = ${query.type}`)
  if (query.status !== undefined) clauses.push(sql`d.status = ${query.status}`)
  if (query.category !== undefined) clauses.push(sql`d.marks @> array[${`c:${query.category}`}]::text[]`)
  if (query.brand !== undefined) clauses.push(sql`d.marks @> array[${`b:${query.brand}`}]::text[]`)
  for (const { name, values } of query.attributes) {
    const marks = values.map((value) => `a:${cut(`${name}=${value}`)}`)
    clauses.push(sql`d.marks && ${marks}::text[]`)
  }
  return sql.and(clauses)
}

/** What parts words from each other, and more: there are never fewer words than the database sees. */
const between = /[^\p{L}\p{Nd}]+/u

/** How many of the words a title has; each that is asked for costs every document, so no more are asked than there are. */
const inTitle = ({ isForgiving, query }: Asked): string => {
  const sent = (query.q ?? "").split(between).filter((word) => word !== "").length
  const words = query.q === undefined ? 0 : isForgiving ? scoredWords : Math.min(scoredWords, sent)
  return [
    "0",
    ...Array.from(
      { length: words },
      (_, n) => `coalesce((d.title_words @@ (select parts[${n + 1}] from asked))::int, 0)`
    )
  ].join(" + ")
}

/** Two for each word in the title, one for each elsewhere: every word is found somewhere, or the document is not. */
const everyWord = "coalesce(cardinality((select parts from asked)), 0)"

/** The words as they came, or with typing errors forgiven; null where none were asked for. */
const asked = (sql: SqlClient.SqlClient, { isForgiving, organization, publicOnly, query }: Asked) =>
  query.q === undefined
    ? sql.literal("null::tsquery[]")
    : isForgiving
    ? sql`search_alike(${organization}, ${query.q}, ${publicOnly}::boolean)`
    : sql`search_asked(${organization}, ${query.q})`

const counted = (sql: SqlClient.SqlClient, facet: string) => {
  const attribute = facetAttribute(facet)
  if (attribute !== undefined) {
    return sql`select v as value, count(*) as n from matched m,
      jsonb_array_elements_text(m.attributes -> ${attribute}::text) v group by 1`
  }
  return sql.literal(
    facet === "type" || facet === "status"
      ? `select ${facet} as value, sum(n)::int8 as n from known group by 1`
      : `select v as value, sum(n)::int8 as n from known, unnest(${
        facet === "category" ? "categories" : "brands"
      }) v group by 1`
  )
}

const facets = (sql: SqlClient.SqlClient, names: ReadonlyArray<string>) =>
  names.length === 0 ?
    sql.literal("'{}'::jsonb") :
    sql`jsonb_build_object(${
      sql.csv(
        names.map((name) =>
          sql`${name}::text, (select coalesce(jsonb_object_agg(value, n), '{}') from (${counted(sql, name)}) f)`
        )
      )
    })`

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

/** Groups of documents that have type, status, categories and brands in common, each looked at once. */
const known = (sql: SqlClient.SqlClient, all: Asked) => {
  const where = sql.and([
    sql`true`,
    ...all.query.type === undefined ? [] : [sql`r.type = ${all.query.type}`],
    ...all.query.status === undefined ? [] : [sql`r.status = ${all.query.status}`]
  ])
  return sql`known as (select c.n, r.type, r.status, r.categories, r.brands
    from cells c join search_documents r using (doc) where ${where})`
}

/** Documents `d` that have the words and the marks. */
const matching = (sql: SqlClient.SqlClient, all: Asked) => {
  const whole = "(select search_whole(parts) from asked)"
  // Whoever keeps the catalog also finds what waits for approval.
  const found = all.publicOnly ? `d.words @@ ${whole}` : `(d.words @@ ${whole} or d.staff_words @@ ${whole})`
  return sql`${filters(sql, all)} ${sql.literal(all.query.q === undefined ? "" : `and ${found}`)}`
}

/** Every document that was found, once for the page and for the figures: for attributes' figures and for pages far behind. */
const bySearching = (sql: SqlClient.SqlClient, all: Asked, attributes: string) =>
  sql`asked as materialized (select ${asked(sql, all)} as parts),
    matched as materialized (select d.doc, d.cell, d.sort_title,
        ${sql.literal(`${attributes}${everyWord} + ${inTitle(all)}`)} as score
      from search_documents d where ${matching(sql, all)}),
    cells as (select m.cell, count(*) as n, min(m.doc) as doc from matched m group by m.cell),
    page as (select * from matched order by score desc, sort_title, doc limit ${all.query.limit}
      offset ${offsetOf(all.query)})`

/** Pages that end before this many hits are made from the best groups. */
const nearPages = 200

/**
 * The same where only the four facets are counted and the page is near: documents are put into their groups as they are
 * found and kept nowhere, each group with its best place in the order (`9` less words in the title, then the title). The
 * hits of a page that ends at the nth lie in the n groups that have the best places (more, where places are the same), and
 * none of them is behind the last of these. Of words that most documents have, that is half the work.
 */
const byGroups = (sql: SqlClient.SqlClient, all: Asked) => {
  const last = offsetOf(all.query) + all.query.limit
  const place = sql.literal(`chr(57 - (${inTitle(all)})) || d.sort_title`)
  return sql`asked as materialized (select ${asked(sql, all)} as parts),
    cells as materialized (select d.cell, count(*) as n, min(d.doc) as doc, array_agg(d.doc) as docs,
        min(${place}) as best
      from search_documents d where ${matching(sql, all)} group by d.cell),
    nearest as materialized (select docs, best from cells order by best fetch first ${last} rows with ties),
    page as (select p.doc, p.sort_title, ${sql.literal(everyWord)} + 57 - ascii(p.place) as score
      from (select d.doc, d.sort_title, ${place} as place from search_documents d
        where d.organization_id = ${all.organization} and d.doc = any(array(select unnest(docs) from nearest))
        offset 0) p
      where p.place <= (select case when count(*) >= ${last} then max(best) else chr(58) end from nearest)
      order by p.place, p.doc limit ${all.query.limit} offset ${offsetOf(all.query)})`
}

/** A whole catalog or type: the figures are read from the index of groups, and the page from that of titles. */
const byWalking = (sql: SqlClient.SqlClient, all: Asked) => {
  const whole = { ...all, query: { ...all.query, type: undefined, status: undefined } }
  return sql`cells as (select d.cell, count(*) as n, min(d.doc) as doc from search_documents d
      where ${filters(sql, whole)} group by d.cell),
    page as (select d.doc, d.sort_title, 0 as score from search_documents d where ${filters(sql, all)}
      order by d.sort_title, d.doc limit ${all.query.limit} offset ${offsetOf(all.query)})`
}

/**
 * One page of what was found with the total and the facets of all of it. Documents are counted by groups (`cells`), so
 * that facets cost what the groups are and not what the documents are.
 */
export const searchStatement = (sql: SqlClient.SqlClient, all: Asked) => {
  const { query } = all
  const hasAttributes = query.facets.some((facet) => facetAttribute(facet) !== undefined)
  const isWhole = !hasAttributes && query.attributes.length === 0 &&
    [query.q, query.category, query.brand].every((part) => part === undefined)
  const isNear = !hasAttributes && offsetOf(query) + query.limit <= nearPages
  return sql<FoundRow>`with ${
    isWhole
      ? byWalking(sql, all)
      : isNear
      ? byGroups(sql, all)
      : bySearching(sql, all, hasAttributes ? "d.attributes, " : "")
  },
    ${known(sql, all)}
    select (select coalesce(sum(n), 0)::int8 from known) as total, ${facets(sql, query.facets)} as facets,
      (select coalesce(jsonb_agg(${sql.literal(hit)} order by p.score desc, p.sort_title, p.doc), '[]')
        from page p join search_documents d using (doc)
        join catalog_entities e on e.id = d.entity_id and e.organization_id = d.organization_id
        cross join lateral (${words(sql, query.locales)}) w) as hits`
}
