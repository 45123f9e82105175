import { Context, type Effect } from "effect"
import type { CurrentActor } from "../access/Actor.ts"
import type { Facets, SearchHit } from "./SearchDocument.ts"
import type { SearchQuery, SuggestionQuery } from "./SearchQuery.ts"

/** A page of hits and their total number. */
export interface Found {
  readonly hits: ReadonlyArray<SearchHit>
  readonly total: number
  readonly facets: Facets
}

/**
 * A search engine: PostgreSQL (`PostgresEngineRepo`) or an external service (docs/catalog.md). It searches the actor's
 * organization only; with `publicOnly` it neither shows nor counts what is not active and visible. `total` and `facets`
 * cover all hits, and each requested facet has a key. An engine that cannot answer must fail, never return an empty
 * result (contract §9).
 */
export class SearchEngine extends Context.Service<SearchEngine, {
  /** The query has words or filters, and its words are not blank. */
  readonly search: (query: SearchQuery, publicOnly: boolean) => Effect.Effect<Found, never, CurrentActor>
  /** Titles that begin with the prefix, ignoring case, distinct and sorted. */
  readonly suggest: (
    query: SuggestionQuery,
    publicOnly: boolean
  ) => Effect.Effect<ReadonlyArray<string>, never, CurrentActor>
}>()("stoa/domain/search/SearchEngine") {}
