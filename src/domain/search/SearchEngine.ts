import { Context, type Effect, Schema } from "effect"
import { CatalogEntity } from "../catalog/Entity.ts"
import type { CurrentActor } from "../platform/access/Actor.ts"
import { EntityId } from "../platform/ids/Id.ts"
import type { SearchQuery, SuggestionQuery } from "./SearchQuery.ts"

/**
 * The document of a found entity (contract §9). `title` is the English one, else the first by locale, else the slug.
 */
export const SearchDocument = Schema.Struct({
  id: EntityId,
  organizationId: Schema.String,
  type: Schema.String,
  slug: Schema.String,
  title: Schema.String,
  description: Schema.optionalKey(Schema.String),
  status: CatalogEntity.fields.status,
  isVisible: Schema.Boolean,
  categories: Schema.Array(Schema.String).annotate({ description: "Slugs." }),
  brands: Schema.Array(Schema.String).annotate({ description: "Slugs." }),
  text: Schema.String.annotate({
    description: "Slug, titles and descriptions of all locales, slugs of categories and brands."
  }),
  attributes: Schema.optionalKey(
    Schema.Record(Schema.String, Schema.Array(Schema.String)).annotate({
      description: "Values of the options of its variants, and plain values of its metadata."
    })
  ),
  payload: Schema.Struct({ metadata: Schema.Record(Schema.String, Schema.Unknown) })
}).annotate({ identifier: "SearchDocument" })
export type SearchDocument = typeof SearchDocument.Type

/** A hit and its score: two for each word in a title, one for each word elsewhere. */
export const SearchHit = Schema.Struct({ id: EntityId, score: Schema.Finite, document: SearchDocument })
  .annotate({ identifier: "SearchHit" })
export type SearchHit = typeof SearchHit.Type

const Count = Schema.Int

/** Number of hits per value, by facet. */
export const Facets = Schema.Record(Schema.String, Schema.Record(Schema.String, Count))
export type Facets = typeof Facets.Type

/** A page of hits, with total and facets of all hits. */
export const SearchPage = Schema.Struct({
  data: Schema.Array(SearchHit),
  meta: Schema.Struct({ total: Count, page: Count, limit: Count, facets: Facets })
}).annotate({ identifier: "SearchPage" })
export type SearchPage = typeof SearchPage.Type

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
