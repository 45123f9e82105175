import type { SqlClient, Statement } from "effect/sql"
import { offsetOf } from "../paging/Paging.ts"
import type { KnownAnswer } from "./AnswerMemory.ts"
import { everyWord, inTitle } from "./BestHitsRepo.ts"
import { facetFigures } from "./FacetFiguresRepo.ts"
import { canChange, placesOf, unseen } from "./KnownAnswerRepo.ts"
import { allWords, type Asked, askedFor, matching } from "./MatchingRepo.ts"
import type { Facets, SearchHit } from "./SearchDocument.ts"
import { shown } from "./ShownHitsRepo.ts"

/** The one row of it: by how much the answer has changed, and its page. */
export interface ChangedRow {
  /** Whether all of it is so; else the question has to be asked anew. */
  readonly holds: boolean
  readonly total: bigint
  readonly facets: Facets
  readonly hits: ReadonlyArray<SearchHit>
  readonly at: string
}

/** More changes of documents than this are not looked at one by one. */
const mostDocuments = 200

/** `former`: each document that has changed, as the snapshot of the answer saw it: as it was before the first change since. */
const former = (sql: SqlClient.SqlClient, { organization }: Asked): Statement.Fragment =>
  sql`told as materialized (select * from search_former where organization_id = ${organization}
      and xid = any(array(select xid from unseen)) limit ${mostDocuments + 1}),
    former as materialized (select distinct on (entity_id) * from told order by entity_id, change)`

/**
 * `latter`: those that are found now, with score and place. By key: the index of words would look through all that have
 * them (`offset 0`).
 */
const latter = (sql: SqlClient.SqlClient, all: Asked): Statement.Fragment =>
  sql`latter as materialized (select t.*, ${sql.literal(`${everyWord} + ${inTitle}`)} as score
    from (select * from search_words where organization_id = ${all.organization}
      and entity_id = any(array(select entity_id from former)) offset 0) d
    join search_documents t using (doc) where ${matching(sql, all, allWords)})`

/** `known`: what does not count any more, and what counts now. The parts of facets are the same for both. */
const known = (sql: SqlClient.SqlClient, all: Asked): Statement.Fragment =>
  sql`known as materialized (
      select -1 as n, d.type, d.status, d.categories, d.brands, d.attributes from former d
        where ${matching(sql, all, allWords)}
      union all select 1, type, status, categories, brands, attributes from latter),
    dressed as (select n, attributes from known)`

/**
 * `page`: the hits of the page that have not changed, and those that are found now. Where the page was full, there is more
 * behind it that nobody has remembered: up to its last hit that is left, the order is known.
 */
const page = (sql: SqlClient.SqlClient, all: Asked, answer: KnownAnswer): Statement.Fragment => {
  const isFull = answer.places.length === all.query.limit
  const place = sql.literal("-score, sort_title, doc")
  return sql`kept as materialized (select d.doc, d.sort_title, p.score from ${placesOf(sql, answer)}
      join search_documents d on d.entity_id = p.id and d.organization_id = ${all.organization}
      where not p.id = any(array(select entity_id from former))),
    page as materialized (select doc, sort_title, score from kept
      union all select doc, sort_title, score from latter
        ${isFull ? sql`where (${place}) < (select ${place} from kept order by 1 desc, 2 desc, 3 desc limit 1)` : sql``}
      order by score desc, sort_title, doc limit ${all.query.limit})`
}

/** Whether the page is right: a later one only if nothing of what was found has changed. */
const isPageRight = (sql: SqlClient.SqlClient, { query }: Asked, { places }: KnownAnswer): Statement.Fragment => {
  if (offsetOf(query) > 0) return sql`not exists (select 1 from known)`
  return places.length < query.limit ? sql`true` : sql`(select count(*) from page) = ${query.limit}::int8`
}

/**
 * Brings a remembered answer up to date, by the documents that have changed since: those that were found are subtracted and
 * those that are found now added, so it costs what has changed and not what was found. The words must still mean what they
 * meant (`parts`): a language that comes to the catalog has its own forms of them, and a new word may be the one that was
 * mistyped.
 */
export const changedAnswer = (sql: SqlClient.SqlClient, all: Asked, answer: KnownAnswer) =>
  sql<ChangedRow>`with ${
    sql.csv([
      askedFor(sql, all),
      unseen(sql, all, answer),
      former(sql, all),
      latter(sql, all),
      known(sql, all),
      page(sql, all, answer)
    ])
  }
    select (select parts::text from asked) is not distinct from ${answer.parts}
        and ${canChange(sql)} and (select count(*) from told) <= ${mostDocuments}::int8
        and ${isPageRight(sql, all, answer)} as holds,
      (select coalesce(sum(n), 0)::int8 from known) as total, ${facetFigures(sql, all.query)} as facets,
      ${shown(sql, all.query.locales)} as hits, pg_current_snapshot()::text as at`
