import { Effect } from "effect"
import { facetsOf } from "../../domain/search/SearchQuery.ts"
import { defaultSearch, type SearchDefaults } from "../../domain/search/SearchSettings.ts"
import { refuse } from "./Variables.ts"

/** What a deployment says of search (docs/catalog.md). */
export interface SearchOptions {
  /** What is counted where a request names no facets. Default: type, category, brand, status. */
  readonly defaultFacets?: ReadonlyArray<string>
}

/** What `commerce.config.ts` says of search must be usable before the first search finds out that it is not. */
export const checkSearch = ({ defaultFacets = [] }: SearchOptions = {}) => {
  const sent = defaultFacets.join(",")
  return facetsOf(sent, []).pipe(
    Effect.filterOrFail((names) => names.length === defaultFacets.length, () => sent),
    Effect.catch(() => refuse("search.defaultFacets", sent, "at most 20 names of facets, each once")),
    Effect.asVoid
  )
}

/** The settings over what holds everywhere. */
export const searchDefaults = (options: SearchOptions = {}): SearchDefaults => ({ ...defaultSearch, ...options })
