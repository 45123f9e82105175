import type { SqlClient, Statement } from "effect/sql"
import { allWords, type Asked, indexed, visible } from "./MatchingRepo.ts"
import { facetAttribute, type SearchQuery } from "./SearchQuery.ts"

/** Whether a facet is asked for that counts an attribute. */
const countsAttributes = ({ facets }: SearchQuery) => facets.some((facet) => facetAttribute(facet) !== undefined)

/** Whether a whole catalog, a type of it or a status is asked for. */
export const isWhole = ({ attributes, brand, category, q }: SearchQuery): boolean =>
  attributes.length === 0 && [q, category, brand].every((part) => part === undefined)

/**
 * `cells`: how many documents of each group were found, and one of them. Of a whole catalog they are read from the index of
 * groups alone; else from the rows that the index of words finds.
 */
const cells = (sql: SqlClient.SqlClient, all: Asked): Statement.Fragment => {
  const counted = sql.literal("d.cell, count(*) as n, min(d.doc) as doc")
  return isWhole(all.query)
    ? sql`cells as (select ${counted} from search_documents d where ${visible(sql, all)} group by d.cell)`
    : sql`cells as (select ${counted} from search_words d where ${indexed(sql, all, allWords)} group by d.cell)`
}

/** One document `d` of a group `c`, by its key: conditions on it are not looked for in the whole catalog (`offset 0`). */
const oneOf = "cross join lateral (select * from search_documents where doc = c.doc offset 0) d"

/**
 * `known`: the groups that the asking one may see, with what their documents have in common. Groups of a whole catalog are
 * narrowed here; else their documents have been asked for type and status already.
 */
const known = (sql: SqlClient.SqlClient, all: Asked): Statement.Fragment => {
  const { status, type } = isWhole(all.query) ? all.query : {}
  const own = sql.and([
    visible(sql, all),
    ...type === undefined ? [] : [sql`d.type = ${type}`],
    ...status === undefined ? [] : [sql`d.status = ${status}`]
  ])
  return sql`known as materialized (select c.n, d.type, d.status, d.categories, d.brands
    from cells c ${sql.literal(oneOf)} where ${own})`
}

/** `dressed`: the same by attributes, only where they are counted: documents with the same ones are looked at once. */
const dressed = (sql: SqlClient.SqlClient, all: Asked): Statement.Fragment =>
  sql`dressed as (select c.n, d.attributes from (select d.shade, count(*) as n, min(d.doc) as doc from search_words d
      where ${indexed(sql, all, allWords)} group by d.shade) c
    ${sql.literal(oneOf)} where ${visible(sql, all)})`

/** Groups of documents with what they have in common, each looked at once; and how many documents were found in all. */
export const groups = (sql: SqlClient.SqlClient, all: Asked): Statement.Fragment =>
  sql.csv([
    cells(sql, all),
    known(sql, all),
    ...countsAttributes(all.query) ? [dressed(sql, all)] : [],
    sql.literal("found as materialized (select coalesce(sum(n), 0)::int8 as total from known)")
  ])

const counted = (sql: SqlClient.SqlClient, facet: string): Statement.Fragment => {
  const attribute = facetAttribute(facet)
  if (attribute !== undefined) {
    return sql`select v as value, sum(n)::int8 as n
      from dressed, jsonb_array_elements_text(attributes -> ${attribute}::text) v group by 1`
  }
  return sql.literal(
    facet === "type" || facet === "status"
      ? `select ${facet} as value, sum(n)::int8 as n from known group by 1`
      : `select v as value, sum(n)::int8 as n from known, unnest(${
        facet === "category" ? "categories" : "brands"
      }) v group by 1`
  )
}

/** The facets that were asked for as one object, `{ facet: { value: count } }`. */
export const facetFigures = (sql: SqlClient.SqlClient, { facets }: SearchQuery): Statement.Fragment =>
  facets.length === 0 ?
    sql.literal("'{}'::jsonb") :
    sql`jsonb_build_object(${
      sql.csv(
        facets.map((name) =>
          sql`${name}::text, (select coalesce(jsonb_object_agg(value, n), '{}') from (${counted(sql, name)}) f)`
        )
      )
    })`
