import { Context, type Effect, Schema } from "effect"
import { CatalogEntity } from "../catalog/Entity.ts"
import type { CurrentActor } from "../platform/access/Actor.ts"
import { about } from "../platform/hints/Hints.ts"
import { EntityId, OrganizationId } from "../platform/ids/Id.ts"
import { Metadata } from "../platform/text/Storable.ts"
import type { SearchQuery, SuggestionQuery } from "./SearchQuery.ts"

/** `title` is the English one, else the first by locale, else the slug (contract §9). */
export const SearchDocument = Schema.Struct({
  id: EntityId,
  organizationId: OrganizationId,
  type: Schema.String.pipe(about("Free word for the kind of goods, such as product.")),
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
  payload: Schema.Struct({ metadata: Metadata }).pipe(about("Metadata of the entity."))
}).annotate({ identifier: "SearchDocument", description: "The entity as it is indexed." })
export type SearchDocument = typeof SearchDocument.Type

const found = {
  id: EntityId,
  score: Schema.Finite.pipe(about("Two for each word in a title, one for each word elsewhere.")),
  document: SearchDocument
}

const FoundDocument = Schema.Struct(found)
export type FoundDocument = typeof FoundDocument.Type

export const SearchHit = Schema.Struct({
  ...found,
  inStock: Schema.Boolean.annotate({
    description: "A unit can be had at once: of any variant, in an active warehouse. True where it is not counted."
  })
}).annotate({ identifier: "SearchHit" })
export type SearchHit = typeof SearchHit.Type

const Count = Schema.Int

export const Facets = Schema.Record(Schema.String, Schema.Record(Schema.String, Count))
export type Facets = typeof Facets.Type

export const SearchPage = Schema.Struct({
  data: Schema.Array(SearchHit),
  meta: Schema.Struct({
    total: Count.pipe(about("Hits on all pages.")),
    page: Count.pipe(about("Number of this page, from 1.")),
    limit: Count.pipe(about("Most hits of a page.")),
    facets: Facets.pipe(about("Number of hits by facet and value."))
  })
}).annotate({ identifier: "SearchPage" })
export type SearchPage = typeof SearchPage.Type

export interface Found {
  readonly hits: ReadonlyArray<FoundDocument>
  readonly total: number
  readonly facets: Facets
}

/**
 * A search engine: PostgreSQL or an external service (docs/catalog.md). Searches the actor's organization; `publicOnly`
 * excludes invisible entities. `total` and `facets` cover all hits. An engine that cannot answer must fail (contract
 * §9).
 */
export class SearchEngine extends Context.Service<SearchEngine, {
  readonly search: (query: SearchQuery, publicOnly: boolean) => Effect.Effect<Found, never, CurrentActor>
  /** Titles that begin with the prefix, ignoring case, distinct and sorted. */
  readonly suggest: (
    query: SuggestionQuery,
    publicOnly: boolean
  ) => Effect.Effect<ReadonlyArray<string>, never, CurrentActor>
  /** Finds which of these attributes any entity has. Without it, unknown facets are not reported. */
  readonly attributesAmong?: (
    names: ReadonlyArray<string>,
    publicOnly: boolean
  ) => Effect.Effect<ReadonlyArray<string>, never, CurrentActor>
}>()("stoa/domain/search/SearchEngine") {}
