import { Context, Effect, Layer } from "effect"
import { CurrentActor, holds } from "../access/Actor.ts"
import { Forbidden, NotFound, ValidationFailed } from "../errors/ApiErrors.ts"
import type { Extra } from "../hooks/HookRun.ts"
import { Hooks } from "../hooks/Hooks.ts"
import type { ApprovalStatus, AttributesChange } from "./Attributes.ts"
import { AttributesRepo } from "./AttributesRepo.ts"
import { CatalogSettings } from "./CatalogSettings.ts"
import { CatalogTransactionRepo } from "./CatalogTransactionRepo.ts"
import type { CatalogEntity, EntityChange } from "./Entity.ts"
import { EntityRepo, type EntityWrite } from "./EntityRepo.ts"
import { EntityFields } from "./fields/EntityFields.ts"
import { DraftRepo } from "./locales/DraftRepo.ts"

/**
 * The steps of every change of an entity: by a request, a restored revision or a schedule. Before-hooks run before the
 * first write, after-hooks after the last.
 */
export class EntityChanges extends Context.Service<EntityChanges>()("stoa/domain/catalog/EntityChanges", {
  make: Effect.gen(function*() {
    const repo = yield* EntityRepo
    const attributes = yield* AttributesRepo
    const drafts = yield* DraftRepo
    const fields = yield* EntityFields
    const transaction = yield* CatalogTransactionRepo
    const settings = yield* CatalogSettings
    const hooks = yield* Hooks

    /**
     * Runs the before-hooks; 422 when one refuses. Returns the change after them, and the previous entity if a hook
     * needs it: hooks of a type do, which costs a statement only if there are such hooks.
     */
    const beforeUpdate = Effect.fnUntraced(function*(id: string, sent: EntityChange) {
      const general = yield* hooks.before("catalog.beforeUpdate", sent, { entityId: id })
      if (!hooks.hasAny(needsOldRow)) return { change: general, old: undefined }
      const old = (yield* repo.findById(id, [])) ?? (yield* unknownEntity)
      const change = yield* hooks.before(`catalog.${old.type}.beforeUpdate`, general, { entityId: id })
      return { change, old }
    })

    /** Runs the after-hooks. */
    const afterUpdate = Effect.fnUntraced(function*(entity: CatalogEntity, old?: CatalogEntity, extra?: Extra) {
      yield* hooks.after("catalog.afterUpdate", entity, old, extra)
      yield* hooks.after(`catalog.${entity.type}.afterUpdate`, entity, old, extra)
    })

    const withFields = Effect.fnUntraced(function*(id: string, change: EntityWrite, sent: object) {
      return yield* repo.update(id, change, yield* fields.ofExisting(id, { ...sent }, change.replacesFields === true))
    })

    /** Writes the entity and validates its custom fields if they are written. */
    const write = Effect.fnUntraced(function*(id: string, change: EntityWrite) {
      const written = change.customFields === undefined
        ? repo.update(id, change)
        : transaction.run(withFields(id, change, change.customFields))
      return (yield* written) ?? (yield* unknownEntity)
    })

    /** Writes approved attributes; 404, and 422 for the first write of a locale without title. */
    const writeAttributes = Effect.fnUntraced(function*(id: string, locale: string, change: AttributesChange) {
      const written = yield* attributes.put(id, locale, change)
      if (written._tag === "NoEntity") return yield* unknownEntity
      return written._tag === "NoTitle" ? yield* titleMissing : written
    })

    const saveDraft = Effect.fnUntraced(function*(id: string, locale: string, change: AttributesChange) {
      const saved = yield* drafts.save(id, locale, change)
      if (saved === "NoEntity") return yield* unknownEntity
      if (saved === "NoTitle") return yield* titleMissing
    })

    /** The status of attributes that the actor writes; 403 when they request an approval that they may not give. */
    const approvalStatus = Effect.fnUntraced(function*(requested: ApprovalStatus | undefined) {
      const mayApprove = !settings.approveLocales || holds(yield* CurrentActor, "catalog:approve")
      if (requested === "approved" && !mayApprove) return yield* notApprover
      return requested ?? (mayApprove ? "approved" : "draft")
    })

    return { beforeUpdate, afterUpdate, write, writeAttributes, saveDraft, approvalStatus }
  })
}) {
  static readonly layer = Layer.effect(EntityChanges, EntityChanges.make)
}

/** Hooks that need the previous entity: those of its type, and those that compare. */
const needsOldRow = /^catalog\.(.+\.beforeUpdate|(.+\.)?afterUpdate)$/

const notApprover = Forbidden.of("Permission 'catalog:approve' is required.")
const unknownEntity = NotFound.of("Catalog entity not found.")
const titleMissing = ValidationFailed.of("title", "is required the first time a locale is written", "required")
