import { Context, Effect, Layer } from "effect"
import type { CurrentActor } from "../../access/Actor.ts"
import { type Conflict, NotFound, ValidationFailed } from "../../errors/ApiErrors.ts"
import { Hooks } from "../../hooks/Hooks.ts"
import type { PageOf, PageRequest } from "../../paging/Paging.ts"
import { EntityLinkRepo } from "../EntityLinkRepo.ts"
import type { Category, CategoryChange, NewCategory } from "./Category.ts"
import { CategoryMoveRepo } from "./CategoryMoveRepo.ts"
import { CategoryRepo } from "./CategoryRepo.ts"
import type { CategoryMove, PlacedCategory, SubtreeQuery } from "./CategoryTree.ts"
import { CategoryTreeRepo } from "./CategoryTreeRepo.ts"

/** The category tree and the entities in it (contract §1.2). */
export class Categories extends Context.Service<Categories, {
  readonly list: (
    includeArchived: boolean,
    page: PageRequest | undefined
  ) => Effect.Effect<PageOf<Category>, never, CurrentActor>
  /** By id or slug, with the path from the root. */
  readonly get: (idOrSlug: string) => Effect.Effect<PlacedCategory, NotFound, CurrentActor>
  /** The category and its descendants, each parent before its children, siblings in order. */
  readonly subtree: (
    idOrSlug: string,
    query: SubtreeQuery
  ) => Effect.Effect<ReadonlyArray<PlacedCategory>, NotFound, CurrentActor>
  /** Moves to another parent or position. 422 for a parent or sibling that it cannot have. */
  readonly move: (
    id: string,
    move: CategoryMove
  ) => Effect.Effect<PlacedCategory, NotFound | ValidationFailed, CurrentActor>
  /** 409 when another category has the slug, 422 for an unknown parent. */
  readonly create: (input: NewCategory) => Effect.Effect<Category, Conflict | ValidationFailed, CurrentActor>
  /** As above, and 422 for a parent that is a descendant. */
  readonly update: (
    id: string,
    change: CategoryChange
  ) => Effect.Effect<Category, NotFound | Conflict | ValidationFailed, CurrentActor>
  /** Lists leave it out; it keeps its position, children and entities. */
  readonly archive: (id: string) => Effect.Effect<Category, NotFound, CurrentActor>
  readonly restore: (id: string) => Effect.Effect<Category, NotFound, CurrentActor>
  readonly remove: (id: string) => Effect.Effect<void, NotFound, CurrentActor>
  /** 404 for an unknown entity or category, 422 when a hook refuses. Idempotent. */
  readonly link: (
    entityId: string,
    categoryId: string
  ) => Effect.Effect<void, NotFound | ValidationFailed, CurrentActor>
  /** 404 when they are not linked. */
  readonly unlink: (entityId: string, categoryId: string) => Effect.Effect<void, NotFound, CurrentActor>
}>()("stoa/domain/catalog/categories/Categories") {
  static readonly layer = Layer.effect(
    Categories,
    Effect.gen(function*() {
      const repo = yield* CategoryRepo
      const tree = yield* CategoryTreeRepo
      const moves = yield* CategoryMoveRepo
      const links = yield* EntityLinkRepo
      const hooks = yield* Hooks

      const get = Effect.fn("Categories.get")(function*(idOrSlug: string) {
        return (yield* tree.find(idOrSlug)) ?? (yield* unknownCategory)
      })

      const subtree = Effect.fn("Categories.subtree")(function*(idOrSlug: string, query: SubtreeQuery) {
        const nodes = yield* tree.subtree(idOrSlug, query)
        return nodes.length === 0 ? yield* unknownCategory : nodes
      })

      const move = Effect.fn("Categories.move")(function*(id: string, request: CategoryMove) {
        const { after, before } = request
        if (before !== undefined && after !== undefined) return yield* oneSibling
        const moved = yield* moves.move(id, request)
        if (moved === "Missing") return yield* unknownCategory
        if (moved === "NoParent") return yield* unknownParent
        if (moved === "Circle") return yield* circle
        if (moved === "NoSibling") return yield* noSibling(before === undefined ? "after" : "before")
        return yield* get(id)
      })

      const update = Effect.fn("Categories.update")(function*(id: string, change: CategoryChange) {
        return (yield* repo.update(id, change)) ?? (yield* unknownCategory)
      })

      const setStatus = Effect.fn("Categories.setStatus")(function*(id: string, status: Category["status"]) {
        return (yield* repo.setStatus(id, status)) ?? (yield* unknownCategory)
      })

      const remove = Effect.fn("Categories.remove")(function*(id: string) {
        if (!(yield* repo.remove(id))) return yield* unknownCategory
      })

      const link = Effect.fn("Categories.link")(function*(entityId: string, categoryId: string) {
        if (hooks.has("catalog.beforeCategorize")) {
          const { slug } = yield* get(categoryId)
          yield* hooks.before("catalog.beforeCategorize", { entityId, categories: [slug], metadata: null })
        }
        const ends = yield* links.link("category", entityId, categoryId)
        if (!ends.entity) return yield* NotFound.of("Catalog entity not found.")
        if (!ends.target) return yield* unknownCategory
      })

      const unlink = Effect.fn("Categories.unlink")(function*(entityId: string, categoryId: string) {
        const unlinked = yield* links.unlink("category", entityId, categoryId)
        if (!unlinked) return yield* NotFound.of("The entity is not in this category.")
      })

      return {
        list: repo.list,
        get,
        subtree,
        move,
        create: repo.create,
        update,
        archive: (id: string) => setStatus(id, "archived"),
        restore: (id: string) => setStatus(id, "active"),
        remove,
        link,
        unlink
      }
    })
  )
}

const unknownCategory = NotFound.of("Category not found.")
const unknownParent = ValidationFailed.of("parentId", "No such category.", "not_found")
const circle = ValidationFailed.of("parentId", "A category cannot lie below itself.", "cycle")
const oneSibling = ValidationFailed.of("after", "Name one sibling: before or after.")
const noSibling = (path: string) => ValidationFailed.of(path, "No such category below this parent.", "not_found")
