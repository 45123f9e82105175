import { Context, Effect, Layer } from "effect"
import { Conflict, NotFound } from "../errors/ApiErrors.ts"
import { Hooks } from "../hooks/Hooks.ts"
import type { AttributesChange } from "./Attributes.ts"
import { CatalogTransactionRepo } from "./CatalogTransactionRepo.ts"
import type { EntityChange, NewEntity } from "./Entity.ts"
import { EntityChanges } from "./EntityChanges.ts"
import { EntityRepo } from "./EntityRepo.ts"
import { EntityFields } from "./fields/EntityFields.ts"

/**
 * Changes of catalog entities (contract §1.2). Each emits `catalog.create`, `.update` or `.delete` with the change and
 * runs the hooks of the same names and their `catalog.<type>.…` forms.
 */
export class Catalog extends Context.Service<Catalog>()("stoa/domain/catalog/Catalog", {
  make: Effect.gen(function*() {
    const repo = yield* EntityRepo
    const changes = yield* EntityChanges
    const hooks = yield* Hooks

    const createEntity = creation(repo, changes, yield* EntityFields, yield* CatalogTransactionRepo)

    /**
     * Creates an entity with attributes and custom fields. 409 when another entity has the slug or the value of a unique
     * field, 422 for invalid custom fields and when a hook refuses, 403 for an approval that the actor may not give.
     */
    const create = Effect.fn("Catalog.create")(function*(input: NewEntity) {
      const general = yield* hooks.before("catalog.beforeCreate", input)
      const entity = yield* createEntity(yield* hooks.before(`catalog.${general.type}.beforeCreate`, general))
      yield* hooks.after("catalog.afterCreate", entity, input)
      yield* hooks.after(`catalog.${entity.type}.afterCreate`, entity, input)
      return entity
    })

    const beforeRemove = Effect.fnUntraced(function*(id: string) {
      if (!hooks.hasAny(needsDeleted)) return
      const entity = (yield* repo.findById(id, [])) ?? (yield* unknownEntity)
      yield* hooks.before("catalog.beforeDelete", entity)
      yield* hooks.before(`catalog.${entity.type}.beforeDelete`, entity)
    })

    /** Changes the given fields. 404, 409 and 422 as above. */
    const update = Effect.fn("Catalog.update")(function*(id: string, requested: EntityChange, publish = false) {
      const { change, old } = yield* changes.beforeUpdate(id, requested)
      const entity = yield* changes.write(id, { ...change, publish })
      yield* changes.afterUpdate(entity, old)
      return entity
    })

    /** 404, 422 when a hook refuses, and 409 while carts, orders or stock movements refer to the entity. */
    const remove = Effect.fn("Catalog.remove")(function*(id: string) {
      yield* beforeRemove(id)
      const removal = yield* repo.remove(id)
      if (removal._tag === "Missing") return yield* unknownEntity
      if (removal._tag === "Used") return yield* inUse
      yield* hooks.after("catalog.afterDelete", removal.entity)
      yield* hooks.after(`catalog.${removal.entity.type}.afterDelete`, removal.entity)
    })

    /** Merges into the attributes of a locale or its draft. 404, 422 for the first write without title, 403 as above. */
    const setAttributes = Effect.fn("Catalog.setAttributes")(
      function*(id: string, locale: string, change: AttributesChange) {
        if ((yield* changes.approvalStatus(change.status)) === "draft") {
          return yield* changes.saveDraft(id, locale, change)
        }
        const written = yield* changes.writeAttributes(id, locale, change)
        if (written._tag === "Changed") {
          const changedFieldPaths = written.fields.map((field) => `attributes.${locale}.${field}`)
          yield* changes.afterUpdate(written.entity, written.old, { changedFieldPaths })
        }
      }
    )

    return {
      create,
      update: (id: string, change: EntityChange) => update(id, change),
      /** Makes the entity active, visible and published now, from any status. Repeatable. */
      publish: (id: string) => update(id, { status: "active", isVisible: true }, true),
      archive: (id: string) => update(id, { status: "archived" }),
      discontinue: (id: string) => update(id, { status: "discontinued" }),
      remove,
      setAttributes
    }
  })
}) {
  static readonly layer = Layer.effect(Catalog, Catalog.make)
}

const creation = (
  repo: EntityRepo["Service"],
  changes: EntityChanges["Service"],
  fields: EntityFields["Service"],
  transaction: CatalogTransactionRepo["Service"]
) => {
  const withFields = Effect.fnUntraced(function*(input: NewEntity) {
    return yield* repo.create(input, yield* fields.ofNew(input.type, input.customFields ?? {}))
  })

  /** Only custom fields and drafts need a transaction. */
  return Effect.fnUntraced(function*({ attributes, ...input }: NewEntity) {
    const state = attributes === undefined ? "approved" : yield* changes.approvalStatus(attributes.status)
    const hasFields = input.customFields !== undefined || (yield* fields.hasFields(input.type))
    const write = hasFields ? withFields : (entity: NewEntity) => repo.create(entity)
    if (attributes === undefined || state === "approved") {
      const entity = attributes === undefined ? input : { ...input, attributes }
      return yield* hasFields ? transaction.run(write(entity)) : write(entity)
    }
    const { locale = "en", ...words } = attributes
    return yield* transaction.run(
      Effect.tap(write(input), (entity) => changes.saveDraft(entity.id, locale, words))
    )
  })
}

const needsDeleted = /^catalog\.(.+\.)?beforeDelete$/

const unknownEntity = NotFound.of("Catalog entity not found.")
const inUse = Conflict.of("Carts, orders or stock movements refer to this entity. Archive it instead.")
