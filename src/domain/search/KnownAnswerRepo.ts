import type { SqlClient } from "effect/sql"
import type { KnownAnswer } from "./AnswerMemory.ts"
import type { Asked } from "./MatchingRepo.ts"
import type { SearchHit } from "./SearchDocument.ts"
import { shown } from "./ShownHitsRepo.ts"

/** The one row of it: the hits are those of the page where the answer holds, and nothing to go by where it does not. */
export interface HoldsRow {
  readonly holds: boolean
  readonly hits: ReadonlyArray<SearchHit>
}

/**
 * Asks whether an answer still holds, and for the hits of its page as they are now. It holds while no transaction has
 * changed what is found that its snapshot had not seen. The snapshot of this statement sees the changes and what they
 * changed together, so nothing is missed, however long ago a transaction began that commits now.
 */
export const knownAnswer = (sql: SqlClient.SqlClient, { organization, query }: Asked, { at, places }: KnownAnswer) =>
  sql<HoldsRow>`with page as (select d.doc, d.sort_title, p.score
      from unnest(${places.map(({ id }) => id)}::uuid[], ${places.map(({ score }) => score)}::int[]) p(id, score)
      join search_documents d on d.entity_id = p.id and d.organization_id = ${organization})
    select not exists (select 1 from search_changes c where c.organization_id = ${organization}
        and c.xid >= pg_snapshot_xmin(${at}::pg_snapshot)
        and not pg_visible_in_snapshot(c.xid, ${at}::pg_snapshot)) as holds,
      ${shown(sql, query.locales)} as hits`
