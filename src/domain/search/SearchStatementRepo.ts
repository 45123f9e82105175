import type { SqlClient } from "effect/sql"
import { bestHits } from "./BestHitsRepo.ts"
import { facetFigures, groups } from "./FacetFiguresRepo.ts"
import { type Asked, askedFor } from "./MatchingRepo.ts"
import type { SearchHit } from "./SearchDocument.ts"
import type { Found } from "./SearchEngine.ts"
import { shown } from "./ShownHitsRepo.ts"

/** The one row of an answer. */
export interface FoundRow {
  readonly total: bigint
  readonly facets: Found["facets"]
  readonly hits: ReadonlyArray<SearchHit>
  /** The snapshot in which all of it was found, see `KnownAnswerRepo`. */
  readonly at: string
  /** What the words meant, see `ChangedAnswerRepo`. */
  readonly parts: string | null
}

/**
 * One page of what was found with the total and the facets of all of it, in one statement. Documents are counted by groups
 * that have the same facets, so that these cost what the groups are and not what the documents are; and the page is made
 * from the best classes of hits, so that the others need neither a score nor a place.
 */
export const searchStatement = (sql: SqlClient.SqlClient, all: Asked) =>
  sql<FoundRow>`with ${askedFor(sql, all)},
    ${groups(sql, all)},
    ${bestHits(sql, all)}
    select (select total from found), ${facetFigures(sql, all.query)} as facets, ${
    shown(sql, all.query.locales)
  } as hits,
      pg_current_snapshot()::text as at, (select parts::text from asked) as parts`
