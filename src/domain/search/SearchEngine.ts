import { Context, type Effect } from "effect"
import type { CurrentActor } from "../access/Actor.ts"
import type { Facets, SearchHit } from "./SearchDocument.ts"
import type { SearchQuery, SuggestionQuery } from "./SearchQuery.ts"

/** What was found: one page, and how many there are in all. */
export interface Found {
  readonly hits: ReadonlyArray<SearchHit>
  readonly total: number
  readonly facets: Facets
}

/**
 * Finds entities: PostgreSQL itself (`PostgresEngineRepo`) or an external service (docs/catalog.md). An engine
 * answers for the organization of the actor alone; with `publicOnly` it neither shows nor counts what is not active and
 * visible. `total` and `facets` are of all that was found, and each facet that was asked for has its key. An engine that
 * cannot answer fails: it never answers with nothing (contract §9).
 */
export class SearchEngine extends Context.Service<SearchEngine, {
  /** The query asks for something, and its words, if any, are not blank. */
  readonly search: (query: SearchQuery, publicOnly: boolean) => Effect.Effect<Found, never, CurrentActor>
  /** Titles that begin with the prefix in any case, each once, in order. */
  readonly suggest: (
    query: SuggestionQuery,
    publicOnly: boolean
  ) => Effect.Effect<ReadonlyArray<string>, never, CurrentActor>
}>()("stoa/domain/search/SearchEngine") {}
