import type { SqlClient, Statement } from "effect/sql"
import type { KnownAnswer } from "./AnswerMemory.ts"
import type { Asked } from "./MatchingRepo.ts"
import type { SearchHit } from "./SearchDocument.ts"
import { shown } from "./ShownHitsRepo.ts"

/** The one row of it: the hits are those of the page where the answer holds; where it does not, none are looked for. */
export interface HoldsRow {
  readonly holds: boolean
  /** Where it does not: whether it can be brought up to date (`ChangedAnswerRepo`). */
  readonly canChange: boolean
  readonly hits: ReadonlyArray<SearchHit>
}

/** More transactions than this are not looked at one by one. */
const mostTransactions = 100

/** `unseen`: transactions that the snapshot of an answer had not seen, a few more than are looked at one by one. */
export const unseen = (sql: SqlClient.SqlClient, { organization }: Asked, { at }: KnownAnswer): Statement.Fragment =>
  sql`unseen as materialized (select c.xid, c.is_told from search_changes c where c.organization_id = ${organization}
      and c.xid >= pg_snapshot_xmin(${at}::pg_snapshot) and not pg_visible_in_snapshot(c.xid, ${at}::pg_snapshot)
      limit ${mostTransactions + 1})`

/** Whether all that `unseen` has changed is told, and not too much to be looked at one by one. */
export const canChange = (sql: SqlClient.SqlClient): Statement.Fragment =>
  sql`(select count(*) <= ${mostTransactions}::int8 and coalesce(bool_and(is_told), true) from unseen)`

/** Rows `p` of the hits of a page, the best first: `id` of the entity, and `score`. */
export const placesOf = (sql: SqlClient.SqlClient, { places }: KnownAnswer): Statement.Fragment =>
  sql`unnest(${places.map(({ id }) => id)}::uuid[], ${places.map(({ score }) => score)}::int[]) p(id, score)`

/**
 * Asks whether an answer still holds, and for the hits of its page as they are now. It holds while no transaction has
 * changed what is found that its snapshot had not seen. The snapshot of this statement sees the changes and what they
 * changed together, so nothing is missed, however long ago a transaction began that commits now.
 */
export const knownAnswer = (sql: SqlClient.SqlClient, asked: Asked, known: KnownAnswer) =>
  sql<HoldsRow>`with ${unseen(sql, asked, known)},
    page as (select d.doc, d.sort_title, p.score from ${placesOf(sql, known)}
      join search_documents d on d.entity_id = p.id and d.organization_id = ${asked.organization})
    select holds, ${canChange(sql)} as "canChange",
      case when holds then ${shown(sql, asked.query.locales)} else '[]' end as hits
    from (select not exists (select 1 from unseen) as holds offset 0) looked`
