import { Context, Effect, Layer } from "effect"
import type { CurrentActor } from "../../access/Actor.ts"
import { type Conflict, type Forbidden, NotFound, type ValidationFailed } from "../../errors/ApiErrors.ts"
import type { PageOf, PageRequest } from "../../paging/Paging.ts"
import { AttributesRepo } from "../AttributesRepo.ts"
import { CatalogTransactionRepo } from "../CatalogTransactionRepo.ts"
import type { CatalogEntity } from "../Entity.ts"
import { EntityChanges } from "../EntityChanges.ts"
import type { Comparison, Revision, RevisionEntry, Snapshot } from "./Revision.ts"
import { differences } from "./RevisionDiff.ts"
import { RevisionRepo } from "./RevisionRepo.ts"

/** What an entity was after each of its changes (docs/catalog.md, revisions). */
export class Revisions extends Context.Service<Revisions, {
  /** Newest first. 404 for the entity. */
  readonly list: (id: string, page: PageRequest) => Effect.Effect<PageOf<RevisionEntry>, NotFound, CurrentActor>
  readonly get: (id: string, number: number) => Effect.Effect<Revision, NotFound, CurrentActor>
  /** What is different in one revision from another; from the one before it where none is named. */
  readonly compare: (
    id: string,
    number: number,
    from: number | undefined
  ) => Effect.Effect<Comparison, NotFound, CurrentActor>
  /**
   * Gives the entity the slug, tax class, metadata, custom fields and words it had: a new revision, held to the rules of
   * today. Whether it is public stays as it is. 404, 409 for a slug that is taken since, 422 for custom fields that are
   * no longer allowed.
   */
  readonly restore: (
    id: string,
    number: number
  ) => Effect.Effect<CatalogEntity, NotFound | Conflict | Forbidden | ValidationFailed, CurrentActor>
}>()("stoa/domain/catalog/revisions/Revisions") {
  static readonly layer = Layer.effect(
    Revisions,
    Effect.gen(function*() {
      const repo = yield* RevisionRepo
      const words = yield* AttributesRepo
      const changes = yield* EntityChanges
      const transaction = yield* CatalogTransactionRepo

      const list = Effect.fn("Revisions.list")(function*(id: string, request: PageRequest) {
        const page = yield* repo.page(id, request)
        if (page === undefined) return yield* NotFound.of("Catalog entity not found.")
        const items = page.items.map(({ earlier, revision: { snapshot, ...entry } }): RevisionEntry => ({
          ...entry,
          changedFields: differences(earlier ?? {}, snapshot).map(({ path }) => path)
        }))
        return { ...page, items }
      })

      const get = Effect.fn("Revisions.get")(function*(id: string, number: number) {
        return (yield* repo.find(id, number)) ?? (yield* unknownRevision(number))
      })

      const compare = Effect.fn("Revisions.compare")(function*(id: string, number: number, from = number - 1) {
        const [young, old] = [yield* get(id, number), yield* get(id, from)]
        return { from, to: number, differences: differences(old.snapshot, young.snapshot) }
      })

      const restoreWords = Effect.fnUntraced(function*(id: string, { attributes }: Snapshot) {
        if ((yield* changes.stateOf(undefined)) === "draft") {
          // Whoever may not approve words proposes the old ones, and takes nothing away from shoppers.
          yield* Effect.forEach(Object.entries(attributes), ([locale, old]) => changes.saveDraft(id, locale, old))
          return
        }
        yield* Effect.forEach(Object.entries(attributes), ([locale, old]) => changes.writeWords(id, locale, old))
        yield* words.keepOnly(id, Object.keys(attributes))
      })

      const restore = Effect.fn("Revisions.restore")(function*(id: string, number: number) {
        const { snapshot } = yield* get(id, number)
        const { customFields, metadata, slug, taxClass } = snapshot
        const { change, old } = yield* changes.consider(id, { slug, taxClass, metadata, customFields })
        const entity = yield* transaction.run(Effect.gen(function*() {
          const written = yield* changes.write(id, { ...change, replacesFields: true })
          yield* restoreWords(id, snapshot)
          yield* repo.markRestored(id, number)
          return written
        }))
        yield* changes.updated(entity, old)
        return entity
      })

      return { list, get, compare, restore }
    })
  )
}

const unknownRevision = (number: number) => NotFound.of(`The entity has no revision ${number}.`)
