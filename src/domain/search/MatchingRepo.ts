import type { SqlClient, Statement } from "effect/sql"
import type { SearchQuery } from "./SearchQuery.ts"

/** What a statement searches for, in whose catalog, and whether it forgives typing errors. */
export interface Asked {
  readonly organization: string
  readonly query: SearchQuery
  readonly publicOnly: boolean
  readonly isForgiving: boolean
}

/** Marks hold this many characters of a name and its value, see `DocumentsRepo`. */
const longestMark = 300

const cut = (text: string): string => Array.from(text).slice(0, longestMark).join("")

/** Marks that must all be there. */
const marksOf = ({ brand, category, status, type }: SearchQuery): ReadonlyArray<string> =>
  Object.entries({ t: type, s: status, c: category, b: brand })
    .flatMap(([kind, value]) => value === undefined ? [] : [`${kind}:${value}`])

/** Conditions on rows `d` of `search_words` but for the words. */
export const filters = (sql: SqlClient.SqlClient, { organization, publicOnly, query }: Asked) => {
  const marks = marksOf(query)
  return sql.and([
    sql`d.organization_id = ${organization}`,
    ...publicOnly ? [sql`d.is_public`] : [],
    ...marks.length > 0 ? [sql`d.marks @> ${marks}::text[]`] : [],
    ...query.attributes.map(({ name, values }) =>
      sql`d.marks && ${values.map((value) => `a:${cut(`${name}=${value}`)}`)}::text[]`
    )
  ])
}

/** The same with words: `asked`, an expression, which is looked at only where words were asked for. */
export const matching = (sql: SqlClient.SqlClient, all: Asked, asked: string): Statement.Fragment => {
  if (all.query.q === undefined) return filters(sql, all)
  // Whoever keeps the catalog also finds what waits for approval.
  const found = all.publicOnly ? `d.words @@ ${asked}` : `(d.words @@ ${asked} or d.staff_words @@ ${asked})`
  return sql`${filters(sql, all)} and ${sql.literal(found)}`
}

/** All words together, of `askedFor`. */
export const allWords = "(select whole from asked)"

/** Words beyond this many are looked for as well, but a hit in the title counts no more than one elsewhere. */
export const scoredWords = 8

/** What parts words from each other, and more: there are never fewer words than the database sees. */
const between = /[^\p{L}\p{Nd}]+/u

/** How many words were sent, at least as many as the database makes of them where no typing errors are forgiven. */
export const wordsSent = ({ query }: Asked): number =>
  (query.q ?? "").split(between).filter((word) => word !== "").length

/** Of so many words the hits are told apart by the index, which has one more class of hits for each. */
export const mostClasses = 3

/** `asked`: the words as they came or with typing errors forgiven, all of them together, and the classes of hits. */
export const askedFor = (sql: SqlClient.SqlClient, all: Asked): Statement.Fragment => {
  const { isForgiving, organization, publicOnly, query } = all
  if (query.q === undefined) return sql`asked as (select null::tsquery[] as parts)`
  const parts = isForgiving
    ? sql`search_alike(${organization}, ${query.q}, ${publicOnly}::boolean)`
    : sql`search_asked(${organization}, ${query.q})`
  const most = Math.min(wordsSent(all), mostClasses)
  return sql`asked as materialized (select parts, search_whole(parts) as whole, search_classes(parts, ${most}::int) as classes
    from (select ${parts} as parts offset 0) typed)`
}
