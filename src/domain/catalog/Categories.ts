import { Context, Effect, Layer } from "effect"
import type { CurrentActor } from "../access/Actor.ts"
import { type Conflict, NotFound, type ValidationFailed } from "../errors/ApiErrors.ts"
import type { PageOf, PageRequest } from "../paging/Paging.ts"
import type { Category, CategoryChange, NewCategory } from "./Category.ts"
import { CategoryRepo } from "./CategoryRepo.ts"
import { EntityLinkRepo } from "./EntityLinkRepo.ts"

/** The category tree and what hangs on it (contract §1.2). */
export class Categories extends Context.Service<Categories, {
  readonly list: (
    includeArchived: boolean,
    page: PageRequest | undefined
  ) => Effect.Effect<PageOf<Category>, never, CurrentActor>
  /** 409 for a slug that is taken, 422 for an unknown parent. */
  readonly create: (input: NewCategory) => Effect.Effect<Category, Conflict | ValidationFailed, CurrentActor>
  /** The same, and 422 for a parent that lies below the category. */
  readonly update: (
    id: string,
    change: CategoryChange
  ) => Effect.Effect<Category, NotFound | Conflict | ValidationFailed, CurrentActor>
  /** Leaves lists but keeps its place, its children and its entities. */
  readonly archive: (id: string) => Effect.Effect<Category, NotFound, CurrentActor>
  readonly restore: (id: string) => Effect.Effect<Category, NotFound, CurrentActor>
  readonly remove: (id: string) => Effect.Effect<void, NotFound, CurrentActor>
  /** 404 for an unknown entity or category; repeating it is fine. */
  readonly link: (entityId: string, categoryId: string) => Effect.Effect<void, NotFound, CurrentActor>
  /** 404 when they are not linked. */
  readonly unlink: (entityId: string, categoryId: string) => Effect.Effect<void, NotFound, CurrentActor>
}>()("stoa/domain/catalog/Categories") {
  static readonly layer = Layer.effect(
    Categories,
    Effect.gen(function*() {
      const repo = yield* CategoryRepo
      const links = yield* EntityLinkRepo

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
