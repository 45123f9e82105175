import { Effect } from "effect"
import { HttpApi, HttpApiBuilder } from "effect/http-api"
import { Categories } from "../../domain/catalog/categories/Categories.ts"
import { pageOrAll } from "../../domain/paging/Paging.ts"
import { deleted } from "../envelope/Envelope.ts"
import { CategoriesGroup } from "./CategoriesApi.ts"
import { CategoryTreeGroup } from "./CategoryTreeApi.ts"
import { linked, unlinked } from "./Links.ts"

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

/** Handlers of the routes that `CategoriesApi.ts` declares. */
export const categoriesHttp = HttpApiBuilder.group(
  HttpApi.make("stoa").add(CategoriesGroup),
  "categories",
  Effect.fnUntraced(function*(handlers) {
    const categories = yield* Categories
    return handlers.handleAll({
      list: ({ query }) => categories.list(query.includeArchived === "true", pageOrAll(query)),
      create: ({ payload }) => categories.create(payload),
      update: ({ params, payload }) => categories.update(params.categoryId, payload),
      remove: ({ params }) => Effect.as(categories.remove(params.categoryId), deleted),
      archive: ({ params }) => categories.archive(params.categoryId),
      restore: ({ params }) => categories.restore(params.categoryId),
      link: ({ params }) => Effect.as(categories.link(params.id, params.categoryId), linked),
      unlink: ({ params }) => Effect.as(categories.unlink(params.id, params.categoryId), unlinked)
    })
  })
)
