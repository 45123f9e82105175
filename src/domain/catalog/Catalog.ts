import { Context, Effect, Layer } from "effect"
import { conflict } from "../platform/errors/ErrorKinds.ts"
import { Hooks } from "../platform/hooks/Hooks.ts"
import type { EntityId } from "../platform/ids/Id.ts"
import { AttributesRepo } from "./AttributesRepo.ts"
import { CatalogTransactionRepo } from "./CatalogChangeRepo.ts"
import { type AttributesChange, type EntityChange, EntityNotFound, type SourcedEntity } from "./Entity.ts"
import { EntityChanges } from "./EntityChanges.ts"
import { EntityRepo } from "./EntityRepo.ts"

class EntityInUse
  extends conflict("EntityInUse", "Carts, orders or stock movements refer to this entity. Archive it instead.")
{}

/**
 * Changes of catalog entities (contract §1.2). Each emits `catalog.create`, `.update` or `.delete` and runs the hooks
 * of the same names.
 */
export class Catalog extends Context.Service<Catalog>()("stoa/domain/catalog/Catalog", {
  make: Effect.gen(function*() {
    const repo = yield* EntityRepo
    const attributes = yield* AttributesRepo
    const changes = yield* EntityChanges
    const hooks = yield* Hooks

    /**
     * Creates an entity. 409 for a taken slug or unique field, 422 for invalid custom fields and when a hook refuses,
     * 403 for an approval that the actor may not give.
     */
    const create = Effect.fn("Catalog.create")(function*(input: SourcedEntity) {
      const general = yield* hooks.before("catalog.beforeCreate", input)
      const entity = yield* changes.create(yield* hooks.before(`catalog.${general.type}.beforeCreate`, general))
      yield* hooks.after("catalog.afterCreate", entity, input)
      yield* hooks.after(`catalog.${entity.type}.afterCreate`, entity, input)
      return entity
    })

    const beforeRemove = Effect.fnUntraced(function*(id: EntityId) {
      if (!hooks.hasAny(needsDeleted)) return
      const entity = (yield* repo.findById(id, [])) ?? (yield* new EntityNotFound())
      yield* hooks.before("catalog.beforeDelete", entity)
      yield* hooks.before(`catalog.${entity.type}.beforeDelete`, entity)
    })

    /** Changes the given fields. 404, 409 and 422 as above. */
    const update = Effect.fn("Catalog.update")(function*(id: EntityId, requested: EntityChange, publish = false) {
      const { change, old } = yield* changes.beforeUpdate(id, requested)
      const entity = yield* changes.write(id, { ...change, publish })
      yield* changes.afterUpdate(entity, old)
      return entity
    })

    /** 404, 422 when a hook refuses, and 409 while carts, orders or stock movements refer to the entity. */
    const remove = Effect.fn("Catalog.remove")(function*(id: EntityId) {
      yield* beforeRemove(id)
      const removal = yield* repo.remove(id)
      if (removal?.used === true) return yield* new EntityInUse()
      const entity = removal?.entity ?? (yield* new EntityNotFound())
      yield* hooks.after("catalog.afterDelete", entity)
      yield* hooks.after(`catalog.${entity.type}.afterDelete`, entity)
    })

    /**
     * Merges into the attributes of a locale or its draft. 404, 422 for the first write without title, 403 as above.
     */
    const setAttributes = Effect.fn("Catalog.setAttributes")(
      function*(id: EntityId, locale: string, change: AttributesChange) {
        if ((yield* changes.approvalStatus(change.status)) === "draft") {
          return yield* attributes.saveDraft(id, locale, change)
        }
        yield* changes.afterAttributes(locale, yield* attributes.put(id, locale, change))
      }
    )

    return {
      create,
      update: (id: EntityId, change: EntityChange) => update(id, change),
      publish: (id: EntityId) => update(id, { status: "active", isVisible: true }, true),
      archive: (id: EntityId) => update(id, { status: "archived" }),
      discontinue: (id: EntityId) => update(id, { status: "discontinued" }),
      remove,
      setAttributes
    }
  })
}) {
  static readonly layer = Layer.effect(Catalog, Catalog.make)
}

const needsDeleted = /^catalog\.(.+\.)?beforeDelete$/

/** Drafts of attributes that wait for approval (docs/catalog.md, locales). */
export class Drafts extends Context.Service<Drafts>()("stoa/domain/catalog/Drafts", {
  make: Effect.gen(function*() {
    const repo = yield* AttributesRepo
    const changes = yield* EntityChanges
    const transaction = yield* CatalogTransactionRepo

    const applied = Effect.fnUntraced(function*(id: EntityId, locale: string) {
      return yield* repo.put(id, locale, yield* repo.takeDraft(id, locale))
    })

    const approve = Effect.fn("Drafts.approve")(function*(id: EntityId, locale: string) {
      yield* changes.afterAttributes(locale, yield* transaction.run(applied(id, locale)))
    })

    return { list: repo.listDrafts, approve, reject: repo.rejectDraft }
  })
}) {
  static readonly layer = Layer.effect(Drafts, Drafts.make)
}
