import { Context, Effect, Layer } from "effect"
import { CatalogSettings, localeChain } from "../catalog/CatalogSettings.ts"
import { withoutFile } from "../catalog/CatalogVisibility.ts"
import { Inventory } from "../inventory/Inventory.ts"
import { CurrentActor, seesUnpublished } from "../platform/access/Actor.ts"
import { type Facets, type FoundDocument, SearchEngine, type SearchHit, type SearchPage } from "./SearchEngine.ts"
import { searchFields } from "./SearchFields.ts"
import {
  asksForSomething,
  attributesOf,
  cutText,
  facetAttribute,
  facetsOf,
  prefixOf,
  rangesOf,
  type SearchQuery,
  SearchSettings,
  sortOf
} from "./SearchQuery.ts"

export interface SentSearch extends Omit<SearchQuery, "attributes" | "facets" | "locales" | "numbers" | "sort"> {
  readonly facets?: string | undefined
  readonly locale?: string | undefined
  readonly sort?: string | undefined
  /** Names that begin with `attr.` are filters. */
  readonly parameters: Iterable<readonly [name: string, value: string]>
}

export interface SentPrefix {
  readonly prefix?: string | undefined
  readonly type?: string | undefined
  readonly locale?: string | undefined
  readonly limit: number
}

const given = (text: string | undefined) => (text === "" ? undefined : text)

/**
 * Catalog search (contract §9). Shoppers find only visible entities. A failure of the engine is an error, never an
 * empty result.
 */
export class Search extends Context.Service<Search>()("stoa/domain/search/Search", {
  make: Effect.gen(function*() {
    const engine = yield* SearchEngine
    const inventory = yield* Inventory
    const { defaultFacets } = yield* SearchSettings
    const languages = yield* CatalogSettings
    const { has, isNumber } = yield* searchFields
    const localesOf = (locale: string | undefined) => locale === undefined ? undefined : localeChain(locale, languages)

    const queryOf = Effect.fnUntraced(function*(sent: SentSearch) {
      const filters = yield* attributesOf(sent.parameters)
      const query: SearchQuery = {
        q: cutText(sent.q),
        type: given(sent.type),
        category: given(sent.category),
        brand: given(sent.brand),
        status: given(sent.status),
        locales: localesOf(sent.locale),
        page: sent.page,
        limit: sent.limit,
        attributes: filters.filter(({ name }) => !isNumber(name)),
        numbers: yield* Effect.forEach(filters.filter(({ name }) => isNumber(name)), rangesOf),
        sort: yield* sortOf(sent.sort, isNumber),
        facets: yield* facetsOf(sent.facets, defaultFacets)
      }
      return query
    })

    /** 422 for an attribute or facet with an invalid name, an unknown order and a bad range. */
    const search = Effect.fn("Search.search")(function*(sent: SentSearch) {
      const query = yield* queryOf(sent)
      const { facets, limit, page } = query
      if (!asksForSomething(query)) return pageOfHits([], { total: 0, page, limit, facets: noneOf(facets) })
      const showsAll = seesUnpublished(yield* CurrentActor)
      const found = yield* engine.search(query, !showsAll)
      const units = yield* inventory.available(found.hits.map(({ id }) => id))
      const hits = (showsAll ? found.hits : found.hits.map(withoutItsFile)).map((hit): SearchHit => {
        const available = units[hit.id] ?? null
        return { ...hit, inStock: available === null || available > 0 }
      })
      return pageOfHits(hits, { total: found.total, page, limit, facets: found.facets })
    })

    const suggest = Effect.fn("Search.suggest")(function*({ limit, locale, prefix, type }: SentPrefix) {
      const begins = prefixOf(prefix)
      if (begins === undefined) return []
      const publicOnly = !seesUnpublished(yield* CurrentActor)
      return yield* engine.suggest(
        { prefix: begins, type: given(type), locales: localesOf(locale), limit },
        publicOnly
      )
    })

    /** Finds requested facets that no entity has; asks the engine only for those without any count. */
    const unknownFacets = Effect.fn("Search.unknownFacets")(function*(sent: string | undefined, counted: Facets) {
      const empty = sent === undefined ? [] : Object.keys(counted).filter((facet) => {
        const attribute = facetAttribute(facet)
        return attribute !== undefined && !has(attribute) && Object.keys(counted[facet] ?? {}).length === 0
      })
      if (empty.length === 0 || engine.attributesAmong === undefined) return []
      const publicOnly = !seesUnpublished(yield* CurrentActor)
      const known = yield* engine.attributesAmong(empty.map((facet) => facetAttribute(facet) ?? facet), publicOnly)
      return empty.filter((facet) => !known.includes(facetAttribute(facet) ?? facet))
    })

    return { search, suggest, unknownFacets }
  })
}) {
  static readonly layer = Layer.effect(Search, Search.make)
}

const pageOfHits = (data: ReadonlyArray<SearchHit>, meta: SearchPage["meta"]): SearchPage => ({ data, meta })

const noneOf = (facets: ReadonlyArray<string>) => Object.fromEntries(facets.map((facet) => [facet, {}]))

/** Only buyers get the file of a digital product. */
const withoutItsFile = (hit: FoundDocument): FoundDocument => ({
  ...hit,
  document: { ...hit.document, payload: withoutFile(hit.document.payload) }
})
