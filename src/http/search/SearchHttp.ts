import { Effect } from "effect"
import { HttpApi, HttpApiBuilder } from "effect/http-api"
import { pageOf, pageSize } from "../../domain/platform/paging/Paging.ts"
import { Search } from "../../domain/search/Search.ts"
import { usualFacets } from "../../domain/search/SearchQuery.ts"
import { ignore } from "../middleware/FieldHandling.ts"
import { SearchGroup } from "./SearchApi.ts"

/** Default 10, at most 25 (contract §9). */
const suggestions = (limit: Parameters<typeof pageSize>[0]) => Math.min(pageSize(limit, 10), 25)

const unknownNames = (facets: ReadonlyArray<string>) =>
  ignore(facets.map((name) => ({ kind: "name", path: ["facets", name], known: usualFacets })))

export const searchHttp = HttpApiBuilder.group(
  HttpApi.make("stoa").add(SearchGroup),
  "search",
  Effect.fnUntraced(function*(handlers) {
    const search = yield* Search
    return handlers.handleAll({
      search: ({ query, request }) =>
        Effect.tap(
          search.search({
            ...query,
            ...pageOf(query),
            parameters: new URL(request.url, "http://localhost").searchParams
          }),
          ({ meta }) => Effect.flatMap(search.unknownFacets(query.facets, meta.facets), unknownNames)
        ),
      suggest: ({ query }) => search.suggest({ ...query, limit: suggestions(query.limit) })
    })
  })
)
