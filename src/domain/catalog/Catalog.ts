import { Context, Effect, Layer } from "effect"
import type { CurrentActor } from "../access/Actor.ts"
import { Conflict, type Forbidden, NotFound, type ValidationFailed } from "../errors/ApiErrors.ts"
import { Hooks } from "../hooks/Hooks.ts"
import type { AttributesChange } from "./Attributes.ts"
import { CatalogTransactionRepo } from "./CatalogTransactionRepo.ts"
import type { CatalogEntity, EntityChange, NewEntity } from "./Entity.ts"
import { EntityChanges } from "./EntityChanges.ts"
import { EntityRepo } from "./EntityRepo.ts"
import { EntityFields } from "./fields/EntityFields.ts"

/**
 * Changes of catalog entities (contract §1.2). Each announces `catalog.create`, `.update` or `.delete` together with the
 * change, and runs the hooks of the same names and their `catalog.<type>.…` forms around it.
 */
export class Catalog extends Context.Service<Catalog, {
  /**
   * A new entity with its first words and custom fields. 409 for a slug or a unique field that is taken, 422 for custom
   * fields that its type does not allow and when a hook refuses, 403 for words it asks to be approved by somebody else.
   */
  readonly create: (
    input: NewEntity
  ) => Effect.Effect<CatalogEntity, Conflict | Forbidden | NotFound | ValidationFailed, CurrentActor>
  /** Changes the given fields. 404, 409 and 422 as above. */
  readonly update: (
    id: string,
    change: EntityChange
  ) => Effect.Effect<CatalogEntity, NotFound | Conflict | ValidationFailed, CurrentActor>
  /** Turns active, visible and published now, from any status and as often as asked. */
  readonly publish: (id: string) => Effect.Effect<CatalogEntity, NotFound | Conflict | ValidationFailed, CurrentActor>
  readonly archive: (id: string) => Effect.Effect<CatalogEntity, NotFound | Conflict | ValidationFailed, CurrentActor>
  readonly discontinue: (
    id: string
  ) => Effect.Effect<CatalogEntity, NotFound | Conflict | ValidationFailed, CurrentActor>
  /** 404, 422 when a hook refuses, and 409 while carts, orders or stock movements refer to it: archive it instead. */
  readonly remove: (id: string) => Effect.Effect<void, NotFound | Conflict | ValidationFailed, CurrentActor>
  /** Merges the words of one locale, or of its draft. 404, 422 for a first write without title, 403 as above. */
  readonly setAttributes: (
    id: string,
    locale: string,
    change: AttributesChange
  ) => Effect.Effect<void, NotFound | Forbidden | ValidationFailed, CurrentActor>
}>()("stoa/domain/catalog/Catalog") {
  static readonly layer = Layer.effect(
    Catalog,
    Effect.gen(function*() {
      const repo = yield* EntityRepo
      const changes = yield* EntityChanges
      const hooks = yield* Hooks

      const made = creation(repo, changes, yield* EntityFields, yield* CatalogTransactionRepo)

      const create = Effect.fn("Catalog.create")(function*(input: NewEntity) {
        const general = yield* hooks.before("catalog.beforeCreate", input)
        const entity = yield* made(yield* hooks.before(`catalog.${general.type}.beforeCreate`, general))
        yield* hooks.after("catalog.afterCreate", entity, input)
        yield* hooks.after(`catalog.${entity.type}.afterCreate`, entity, input)
        return entity
      })

      const existing = Effect.fnUntraced(function*(id: string) {
        return (yield* repo.findById(id, [])) ?? (yield* unknownEntity)
      })

      const mayRemove = Effect.fnUntraced(function*(id: string) {
        if (!hooks.hasAny(needsDeleted)) return
        const entity = yield* existing(id)
        yield* hooks.before("catalog.beforeDelete", entity)
        yield* hooks.before(`catalog.${entity.type}.beforeDelete`, entity)
      })

      const update = Effect.fn("Catalog.update")(function*(id: string, sent: EntityChange, publish = false) {
        const { change, old } = yield* changes.consider(id, sent)
        const entity = yield* changes.write(id, { ...change, publish })
        yield* changes.updated(entity, old)
        return entity
      })

      const remove = Effect.fn("Catalog.remove")(function*(id: string) {
        yield* mayRemove(id)
        const removal = yield* repo.remove(id)
        if (removal._tag === "Missing") return yield* unknownEntity
        if (removal._tag === "Used") return yield* inUse
        yield* hooks.after("catalog.afterDelete", removal.entity)
        yield* hooks.after(`catalog.${removal.entity.type}.afterDelete`, removal.entity)
      })

      const setAttributes = Effect.fn("Catalog.setAttributes")(
        function*(id: string, locale: string, change: AttributesChange) {
          if ((yield* changes.stateOf(change.status)) === "draft") return yield* changes.saveDraft(id, locale, change)
          const written = yield* changes.writeWords(id, locale, change)
          if (written._tag === "Changed") {
            const changedFieldPaths = written.fields.map((field) => `attributes.${locale}.${field}`)
            yield* changes.updated(written.entity, written.old, { changedFieldPaths })
          }
        }
      )

      return {
        create,
        update: (id: string, change: EntityChange) => update(id, change),
        publish: (id: string) => update(id, { status: "active", isVisible: true }, true),
        archive: (id: string) => update(id, { status: "archived" }),
        discontinue: (id: string) => update(id, { status: "discontinued" }),
        remove,
        setAttributes
      }
    })
  )
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

  /** Types without custom fields, and entities without words that wait, need no transaction. */
  const made = Effect.fnUntraced(function*({ attributes, ...input }: NewEntity) {
    const state = attributes === undefined ? "approved" : yield* changes.stateOf(attributes.status)
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

  return made
}

const needsDeleted = /^catalog\.(.+\.)?beforeDelete$/

const unknownEntity = NotFound.of("Catalog entity not found.")
const inUse = Conflict.of("Carts, orders or stock movements refer to this entity. Archive it instead.")
