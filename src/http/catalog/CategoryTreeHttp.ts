import { Effect } from "effect"
import { HttpApi, HttpApiBuilder } from "effect/http-api"
import { Categories } from "../../domain/catalog/categories/Categories.ts"
import { CategoryTreeGroup } from "./CategoryTreeApi.ts"

/** Handlers of the routes that `CategoryTreeApi.ts` declares. */
export const categoryTreeHttp = HttpApiBuilder.group(
  HttpApi.make("stoa").add(CategoryTreeGroup),
  "categoryTree",
  Effect.fnUntraced(function*(handlers) {
    const categories = yield* Categories
    return handlers.handleAll({
      read: ({ params }) => categories.get(params.categoryId),
      subtree: ({ params, query }) =>
        categories.subtree(params.categoryId, {
          depth: query.depth,
          includeArchived: query.includeArchived === "true"
        }),
      move: ({ params, payload }) => categories.move(params.categoryId, payload)
    })
  })
)
