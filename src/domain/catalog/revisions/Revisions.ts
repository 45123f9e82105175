import { Context, Effect, Equal, Layer } from "effect"
import type { EntityId } from "../../platform/ids/Id.ts"
import type { PageRequest } from "../../platform/paging/Paging.ts"
import { AttributesRepo } from "../AttributesRepo.ts"
import { CatalogTransactionRepo } from "../CatalogChangeRepo.ts"
import { EntityChanges } from "../EntityChanges.ts"
import type { Difference, RevisionEntry, Snapshot } from "./Revision.ts"
import { RevisionRepo } from "./RevisionRepo.ts"

/** The history of an entity: one revision per change (docs/catalog.md, revisions). */
export class Revisions extends Context.Service<Revisions>()("stoa/domain/catalog/revisions/Revisions", {
  make: Effect.gen(function*() {
    const repo = yield* RevisionRepo
    const attributes = yield* AttributesRepo
    const changes = yield* EntityChanges
    const transaction = yield* CatalogTransactionRepo

    /** Newest first. 404 for an unknown entity. */
    const list = Effect.fn("Revisions.list")(function*(id: EntityId, request: PageRequest) {
      const page = yield* repo.page(id, request)
      const items = page.items.map(({ earlier, revision: { snapshot, ...entry } }): RevisionEntry => ({
        ...entry,
        changedFields: differences(earlier ?? {}, snapshot).map(({ path }) => path)
      }))
      return { ...page, items }
    })

    const compare = Effect.fn("Revisions.compare")(function*(id: EntityId, number: number, from = number - 1) {
      const current = yield* repo.find(id, number)
      const previous = yield* repo.find(id, from)
      return { from, to: number, differences: differences(previous.snapshot, current.snapshot) }
    })

    const restoreAttributes = Effect.fnUntraced(function*(id: EntityId, locales: Snapshot["attributes"]) {
      if ((yield* changes.approvalStatus(undefined)) === "draft") {
        // Without the permission to approve, propose the old texts and keep what shoppers see.
        yield* Effect.forEach(Object.entries(locales), ([locale, text]) => attributes.saveDraft(id, locale, text))
        return
      }
      yield* Effect.forEach(Object.entries(locales), ([locale, text]) => attributes.put(id, locale, text))
      yield* attributes.keepOnly(id, Object.keys(locales))
    })

    /**
     * Restores content as a new revision, but not status and visibility. 404, 409 when another entity has the slug, 422
     * for invalid custom fields.
     */
    const restore = Effect.fn("Revisions.restore")(function*(id: EntityId, number: number) {
      const { snapshot } = yield* repo.find(id, number)
      const { customFields, metadata, slug, taxClass, taxClassId } = snapshot
      const { change, old } = yield* changes.beforeUpdate(id, { slug, taxClass, taxClassId, metadata, customFields })
      const entity = yield* transaction.run(Effect.gen(function*() {
        const written = yield* changes.write(id, { ...change, replacesFields: true })
        yield* restoreAttributes(id, snapshot.attributes)
        yield* repo.markRestored(id, number)
        return written
      }))
      yield* changes.afterUpdate(entity, old)
      return entity
    })

    return { list, get: repo.find, compare, restore }
  })
}) {
  static readonly layer = Layer.effect(Revisions, Revisions.make)
}

type Tree = Readonly<Record<string, unknown>>

const isTree = (value: unknown): value is Tree => typeof value === "object" && value !== null && !Array.isArray(value)

const sides = (before: Tree, after: Tree, key: string) => ({
  ...key in before ? { before: before[key] } : {},
  ...key in after ? { after: after[key] } : {}
})

const differences = (before: Tree, after: Tree, prefix = ""): ReadonlyArray<Difference> =>
  [...new Set([...Object.keys(before), ...Object.keys(after)])].toSorted().flatMap((key) => {
    const [previous, current] = [before[key], after[key]]
    const path = `${prefix}${key}`
    if (isTree(previous) && isTree(current)) return differences(previous, current, `${path}.`)
    return Equal.equals(previous, current) && key in before === key in after
      ? []
      : [{ path, ...sides(before, after, key) }]
  })
