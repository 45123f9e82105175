import { Context, Effect, Layer } from "effect"
import { Hooks } from "../../platform/hooks/Hooks.ts"
import type { CategoryId, EntityId } from "../../platform/ids/Id.ts"
import { EntityLinkRepo } from "../EntityLinkRepo.ts"
import { type CategoryMove, CategoryNotFound, type SubtreeQuery, TwoSiblings } from "./Category.ts"
import { CategoryRepo } from "./CategoryRepo.ts"
import { CategoryTreeRepo } from "./CategoryTreeRepo.ts"

/** The category tree and the entities in it (contract §1.2). */
export class Categories extends Context.Service<Categories>()("stoa/domain/catalog/categories/Categories", {
  make: Effect.gen(function*() {
    const repo = yield* CategoryRepo
    const tree = yield* CategoryTreeRepo
    const links = yield* EntityLinkRepo
    const hooks = yield* Hooks

    const get = Effect.fn("Categories.get")(function*(idOrSlug: string) {
      return (yield* tree.find(idOrSlug)) ?? (yield* new CategoryNotFound())
    })

    const subtree = Effect.fn("Categories.subtree")(function*(idOrSlug: string, query: SubtreeQuery) {
      const nodes = yield* tree.subtree(idOrSlug, query)
      return nodes.length === 0 ? yield* new CategoryNotFound() : nodes
    })

    /** Moves to another parent or position. 422 for a parent or sibling that it cannot have. */
    const move = Effect.fn("Categories.move")(function*(id: CategoryId, request: CategoryMove) {
      if (request.before !== undefined && request.after !== undefined) return yield* new TwoSiblings()
      yield* tree.move(id, request)
      return yield* get(id)
    })

    /** 404 for an unknown entity or category, 422 when a hook refuses. Idempotent. */
    const link = Effect.fn("Categories.link")(function*(entityId: EntityId, categoryId: CategoryId) {
      if (hooks.has("catalog.beforeCategorize")) {
        const { slug } = yield* get(categoryId)
        yield* hooks.before("catalog.beforeCategorize", { entityId, categories: [slug], metadata: null })
      }
      yield* links.link("category", entityId, categoryId)
    })

    return {
      list: repo.list,
      get,
      subtree,
      move,
      /** 409 when another category has the slug, 422 for an unknown parent. */
      create: repo.create,
      update: repo.update,
      /** Lists leave it out; it keeps its position, children and entities. */
      archive: (id: CategoryId) => repo.setStatus(id, "archived"),
      restore: (id: CategoryId) => repo.setStatus(id, "active"),
      remove: repo.remove,
      link,
      /** 404 when they are not linked. */
      unlink: (entityId: EntityId, categoryId: CategoryId) => links.unlink("category", entityId, categoryId)
    }
  })
}) {
  static readonly layer = Layer.effect(Categories, Categories.make)
}
