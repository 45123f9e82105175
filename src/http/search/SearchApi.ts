import { Schema } from "effect"
import { HttpApiEndpoint, OpenApi } from "effect/http-api"
import { Locale } from "../../domain/catalog/Entity.ts"
import { limitOf, pageQuery } from "../../domain/platform/paging/Paging.ts"
import { FreeText } from "../../domain/platform/text/Storable.ts"
import { SearchPage } from "../../domain/search/SearchEngine.ts"
import { attributePrefix } from "../../domain/search/SearchQuery.ts"
import { described, guarded } from "../endpoint/Resource.ts"
import { Data } from "../envelope/Envelope.ts"
import { ParameterPrefixes } from "../middleware/FieldHandling.ts"

const locale = (description: string) => Schema.optional(Locale.annotate({ description }))

const text = (description: string) => Schema.optional(FreeText.annotate({ description }))

/** Search of the catalog (spec §4 Search, contract §9). */
export const SearchGroup = guarded(
  "search",
  HttpApiEndpoint.get("search", "/api/search", {
    query: {
      ...pageQuery,
      q: text("Words, all of which must be found; what is beyond 500 characters is cut off."),
      type: text("Entity type."),
      category: text("Category slug."),
      brand: text("Brand slug."),
      status: text("draft, active, archived or discontinued. Shoppers find active and visible entities only."),
      locale: locale("Locale of the texts of a hit: the first one of its chain that the hit has."),
      sort: text(
        "`name:asc` or `name:desc` by a number that a plugin adds; hits without it come last. Default: best first."
      ),
      facets: text("Comma list of type, category, brand, status and attributes. Default: the first four.")
    },
    success: SearchPage
  })
    .annotate(ParameterPrefixes, [attributePrefix])
    .annotateMerge(described("Search the catalog", "catalog:read"))
    .annotateMerge(OpenApi.annotations({
      description:
        "Best fitting first, then by title. `attr.<name>=<value>` narrows to values of an attribute and may be " +
        "repeated: values of one name are alternatives, and numbers that a plugin adds also take ranges such as `4..5`. Total and facets are of all that was found. Without words and " +
        "filters nothing is found."
    })),
  HttpApiEndpoint.get("suggest", "/api/search/suggest", {
    query: {
      prefix: text("What titles begin with, in any case; at least 2 characters."),
      type: text("Entity type."),
      locale: locale("Of each entity only its title in the first locale of this chain that it has."),
      limit: limitOf(10, "Titles at most", 25)
    },
    success: Data(Schema.Array(Schema.String))
  })
    .annotateMerge(described("Suggest titles that begin with a text", "catalog:read"))
)
