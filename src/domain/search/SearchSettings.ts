import { Context, Layer } from "effect"
import { usualFacets } from "./SearchQuery.ts"

/** What a deployment decides about search. */
export interface SearchDefaults {
  /** Facets counted if a request names none. */
  readonly defaultFacets: ReadonlyArray<string>
}

export const defaultSearch: SearchDefaults = { defaultFacets: usualFacets }

/** The settings of this process. */
export class SearchSettings extends Context.Service<SearchSettings, SearchDefaults>()(
  "stoa/domain/search/SearchSettings"
) {
  static readonly layerOf = (settings: SearchDefaults) => Layer.succeed(SearchSettings, settings)
}
