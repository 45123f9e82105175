import type { SqlClient, Statement } from "effect/sql"
import { offsetOf } from "../paging/Paging.ts"
import { isWhole } from "./FacetFiguresRepo.ts"
import { allWords, type Asked, matching, mostClasses, scoredWords, wordsSent } from "./MatchingRepo.ts"

/** Two for each word in the title, one for each elsewhere: every word is found somewhere, or the document is not. */
export const everyWord = "coalesce(cardinality((select parts from asked)), 0)"

/**
 * Where more was found than this, hits of a class are first looked for among so many titles, in their order: one in ten of
 * them gives a page. Looking at a title takes twenty times as long as sorting one hit more.
 */
const usual = { found: 30_000, titles: 300, page: 100 }

/** The page of hits that are in the order of titles: nobody asked for words. */
const byTitles = (sql: SqlClient.SqlClient, { organization, publicOnly, query }: Asked): Statement.Fragment =>
  sql`page as (select d.doc, d.sort_title, 0 as score from search_documents d where ${
    sql.and([
      sql`d.organization_id = ${organization}`,
      ...publicOnly ? [sql`d.is_public`] : [],
      ...query.type === undefined ? [] : [sql`d.type = ${query.type}`],
      ...query.status === undefined ? [] : [sql`d.status = ${query.status}`]
    ])
  } order by d.sort_title, d.doc limit ${query.limit} offset ${offsetOf(query)})`

/** Whether a page may come from the first titles: a later one does not, nor titles that have to have several words. */
const mayBeNear = (all: Asked): boolean => offsetOf(all.query) + all.query.limit <= usual.page && wordsSent(all) < 2

/** How many hits a class has given, of those that the page needs. */
const given = (all: Asked, place: number) =>
  mayBeNear(all)
    ? `greatest((select count(*) from near_${place}), (select count(*) from far_${place}))`
    : `(select count(*) from far_${place})`

/**
 * The best hits of one class (see `search_classes`), as many as the page needs, in the order of titles; none where earlier
 * classes have given enough. `near`: where much was found, the first titles of the catalog have them all, and the thousands
 * of others need no sorting. `far`: all of the class, sorted, unless that was enough.
 */
const classOf = (sql: SqlClient.SqlClient, all: Asked, place: number): ReadonlyArray<Statement.Fragment> => {
  const last = offsetOf(all.query) + all.query.limit
  const before = ["0", ...Array.from({ length: place - 1 }, (_, n) => given(all, n + 1))].join(" + ")
  const words = `(select classes[${place}] from asked)`
  const isOpen = sql`${sql.literal(before)} < ${last}::int8`
  const [near, far] = [sql.literal(`near_${place}`), sql.literal(`far_${place}`)]
  const first = sql`${near} as materialized (select t.doc, t.sort_title
      from (select s.entity_id, s.doc, s.sort_title from search_documents s
        where s.organization_id = ${all.organization} order by s.sort_title, s.doc limit ${usual.titles}) t
      cross join lateral (select d.* from search_words d where d.entity_id = t.entity_id
        and d.organization_id = ${all.organization} offset 0) d
      where (select total from found) > ${usual.found}::int8 and ${isOpen} and ${matching(sql, all, words)}
      order by t.sort_title, t.doc limit ${last})`
  const isNotFull = sql`(select count(*) from ${near}) < ${last}::int8`
  const clauses = [...mayBeNear(all) ? [isNotFull] : [], isOpen, matching(sql, all, words)]
  return [
    ...mayBeNear(all) ? [first] : [],
    sql`${far} as materialized (select d.doc, d.sort_title from search_words d where ${sql.and(clauses)}
      order by d.sort_title, d.doc limit ${last})`
  ]
}

/** The page from the best classes. Of `near` and `far` only one counts: what is near is far too. */
const byClasses = (sql: SqlClient.SqlClient, all: Asked, classes: number): Statement.Fragment => {
  const last = offsetOf(all.query) + all.query.limit
  const places = Array.from({ length: classes }, (_, n) => n + 1)
  const looked = `least(${classes - 1}, ${everyWord})`
  const hits = places.flatMap((place) => {
    const score = sql.literal(`${everyWord} + ${looked} + 1 - ${place} as score`)
    const [near, far] = [sql.literal(`near_${place}`), sql.literal(`far_${place}`)]
    return [
      sql`select doc, sort_title, ${score} from ${far}`,
      ...mayBeNear(all)
        ? [sql`select doc, sort_title, ${score} from ${near} where (select count(*) from ${near}) >= ${last}::int8`]
        : []
    ]
  })
  return sql`${sql.csv(places.flatMap((place) => classOf(sql, all, place)))},
    page as (select * from (${sql.join(" union all ", false)(hits)}) hits
      order by score desc, sort_title, doc limit ${all.query.limit} offset ${offsetOf(all.query)})`
}

/** How many of the words the title of a document `t` has. */
export const inTitle = ["0"].concat(Array.from(
  { length: scoredWords },
  (_, n) => `coalesce((t.title_words @@ (select parts[${n + 1}] from asked))::int, 0)`
)).join(" + ")

/** Of many words each hit is looked at: few documents have all of them. */
const byScore = (sql: SqlClient.SqlClient, all: Asked): Statement.Fragment =>
  sql`page as (select d.doc, d.sort_title, ${sql.literal(`${everyWord} + ${inTitle}`)} as score
      from search_words d join search_documents t using (doc) where ${matching(sql, all, allWords)}
      order by score desc, d.sort_title, d.doc limit ${all.query.limit} offset ${offsetOf(all.query)})`

/** `page`: the hits of a page with their scores; the best first, those of one score by title. */
export const bestHits = (sql: SqlClient.SqlClient, all: Asked): Statement.Fragment => {
  if (isWhole(all.query)) return byTitles(sql, all)
  if (all.query.q === undefined) return byClasses(sql, all, 1)
  const sent = wordsSent(all)
  return sent > mostClasses ? byScore(sql, all) : byClasses(sql, all, sent + 1)
}
