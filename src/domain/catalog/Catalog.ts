import { Context, Effect, Layer } from "effect"
import type { CurrentActor } from "../access/Actor.ts"
import { Conflict, NotFound, ValidationFailed } from "../errors/ApiErrors.ts"
import type { Extra } from "../hooks/HookRun.ts"
import { Hooks } from "../hooks/Hooks.ts"
import type { AttributesChange } from "./Attributes.ts"
import { AttributesRepo } from "./AttributesRepo.ts"
import type { CatalogEntity, EntityChange, NewEntity } from "./Entity.ts"
import { EntityRepo } from "./EntityRepo.ts"

/**
 * Changes of catalog entities (contract §1.2). Each announces `catalog.create`, `.update` or `.delete` together with the
 * change, and runs the hooks of the same names and their `catalog.<type>.…` forms around it.
 */
export class Catalog extends Context.Service<Catalog, {
  /** A new entity with its first words. 409 for a slug that is taken, 422 when a hook refuses. */
  readonly create: (input: NewEntity) => Effect.Effect<CatalogEntity, Conflict | ValidationFailed, CurrentActor>
  /** Changes the given fields. 404, 409 for a slug that is taken, 422 when a hook refuses. */
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
  /** Merges the words of one locale. 404, and 422 for a first write without title. */
  readonly setAttributes: (
    id: string,
    locale: string,
    change: AttributesChange
  ) => Effect.Effect<void, NotFound | ValidationFailed, CurrentActor>
}>()("stoa/domain/catalog/Catalog") {
  static readonly layer = Layer.effect(
    Catalog,
    Effect.gen(function*() {
      const repo = yield* EntityRepo
      const attributes = yield* AttributesRepo
      const hooks = yield* Hooks

      const updated = Effect.fnUntraced(function*(entity: CatalogEntity, old?: CatalogEntity, extra?: Extra) {
        yield* hooks.after("catalog.afterUpdate", entity, old, extra)
        yield* hooks.after(`catalog.${entity.type}.afterUpdate`, entity, old, extra)
      })

      const create = Effect.fn("Catalog.create")(function*(input: NewEntity) {
        const general = yield* hooks.before("catalog.beforeCreate", input)
        const entity = yield* repo.create(yield* hooks.before(`catalog.${general.type}.beforeCreate`, general))
        yield* hooks.after("catalog.afterCreate", entity, input)
        yield* hooks.after(`catalog.${entity.type}.afterCreate`, entity, input)
        return entity
      })

      /** The hooks of a type need the entity read, which costs a statement only where there are such hooks. */
      const existing = Effect.fnUntraced(function*(id: string) {
        return (yield* repo.findById(id, [])) ?? (yield* unknownEntity)
      })

      /** What is to be written, and the entity before it where somebody listens who wants to know. */
      const mayChange = Effect.fnUntraced(function*(id: string, sent: EntityChange) {
        const general = yield* hooks.before("catalog.beforeUpdate", sent)
        if (!hooks.hasAny(needsOldRow)) return { change: general, old: undefined }
        const old = yield* existing(id)
        return { change: yield* hooks.before(`catalog.${old.type}.beforeUpdate`, general), old }
      })

      const mayRemove = Effect.fnUntraced(function*(id: string) {
        if (!hooks.hasAny(needsDeleted)) return
        const entity = yield* existing(id)
        yield* hooks.before("catalog.beforeDelete", entity)
        yield* hooks.before(`catalog.${entity.type}.beforeDelete`, entity)
      })

      const update = Effect.fn("Catalog.update")(function*(id: string, sent: EntityChange, publish = false) {
        const { change, old } = yield* mayChange(id, sent)
        const entity = yield* repo.update(id, { ...change, publish })
        if (entity === undefined) return yield* unknownEntity
        yield* updated(entity, old)
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
          const written = yield* attributes.put(id, locale, change)
          if (written._tag === "NoEntity") return yield* unknownEntity
          if (written._tag === "NoTitle") return yield* titleMissing
          if (written._tag === "Changed") {
            const changedFieldPaths = written.fields.map((field) => `attributes.${locale}.${field}`)
            yield* updated(written.entity, written.old, { changedFieldPaths })
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

/** Hooks for which the entity has to be read before it is changed: those of its type, and those that compare. */
const needsOldRow = /^catalog\.(.+\.beforeUpdate|(.+\.)?afterUpdate)$/
const needsDeleted = /^catalog\.(.+\.)?beforeDelete$/

const unknownEntity = NotFound.of("Catalog entity not found.")
const inUse = Conflict.of("Carts, orders or stock movements refer to this entity. Archive it instead.")
const titleMissing = ValidationFailed.of("title", "is required the first time a locale is written", "required")
