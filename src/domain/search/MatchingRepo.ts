import type { SqlClient, Statement } from "effect/sql"
import { createHash } from "node:crypto"
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

/** What stands before words and marks of an organization in the index: what `search_owner` says, known to the planner. */
const ownerOf = (organization: string) => `${createHash("md5").update(organization).digest("hex").slice(0, 6)}:`

/** Whose rows `d` are shown or counted. */
export const visible = (sql: SqlClient.SqlClient, { organization, publicOnly }: Asked): Statement.Fragment =>
  sql.and([sql`d.organization_id = ${organization}`, ...publicOnly ? [sql`d.is_public`] : []])

/**
 * What the index finds: rows `d` of `search_words` with these marks and words (`asked`, an expression, which is looked at
 * only where words were asked for), also of an organization whose short name is the same. Whole groups of them are left out
 * when they have been counted, because every document of a group has the same organization and the same people who may see it.
 */
export const indexed = (
  sql: SqlClient.SqlClient,
  { organization, query }: Asked,
  asked: string
): Statement.Fragment => {
  const owned = (marks: ReadonlyArray<string>) => marks.map((mark) => `${ownerOf(organization)}${mark}`)
  const marks = marksOf(query)
  return sql.and([
    ...marks.length > 0 ? [sql`d.marks @> ${owned(marks)}::text[]`] : [],
    ...query.attributes.map(({ name, values }) => {
      const any = values.map((value) => `a:${cut(`${name}=${value}`)}`)
      return sql`d.marks && ${owned(any)}::text[]`
    }),
    ...query.q === undefined ? [] : [sql.literal(`d.words @@ ${asked}`)]
  ])
}

/** What is found: rows `d` of `search_words` that the index finds and the asking one may see. */
export const matching = (sql: SqlClient.SqlClient, all: Asked, asked: string): Statement.Fragment =>
  sql`${visible(sql, all)} and ${indexed(sql, all, asked)}`

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

/**
 * Whether words that wait for approval need not be asked for: to shoppers they are not shown, and where none wait there is
 * nothing to find. Asking the index for them beside the others costs 3 of 45 ms where most is found. The first of
 * the queue by its index: whether there is one at all would be looked for among those of all organizations.
 */
const isWithoutDrafts = (sql: SqlClient.SqlClient, { organization, publicOnly }: Asked): Statement.Fragment =>
  publicOnly
    ? sql`true`
    : sql`(select 1 from entity_attribute_drafts where organization_id = ${organization} order by proposed_at limit 1) is null`

/** `asked`: the words as they came or with typing errors forgiven, all of them together, and the classes of hits. */
export const askedFor = (sql: SqlClient.SqlClient, all: Asked): Statement.Fragment => {
  const { isForgiving, organization, publicOnly, query } = all
  if (query.q === undefined) return sql`asked as (select null::tsquery[] as parts)`
  const parts = isForgiving
    ? sql`search_alike(${organization}, ${query.q}, ${publicOnly}::boolean)`
    : sql`search_asked(${organization}, ${query.q})`
  const most = Math.min(wordsSent(all), mostClasses)
  const withoutDrafts = isWithoutDrafts(sql, all)
  return sql`asked as materialized (select parts, search_meant(${organization}, whole) as whole,
      array(select search_meant(${organization}, class)
        from unnest(search_classes(parts, whole, ${most}::int)) with ordinality c(class, n) order by n) as classes
    from (select parts, search_whole(parts, ${withoutDrafts}) as whole from (select ${parts} as parts offset 0) typed
      offset 0) meant)`
}
