import { Context, Effect, Layer } from "effect"
import { CurrentActor } from "../access/Actor.ts"
import { type Conflict, type Forbidden, NotFound, ValidationFailed } from "../errors/ApiErrors.ts"
import type { Extra } from "../hooks/HookRun.ts"
import { Hooks } from "../hooks/Hooks.ts"
import type { AttributesChange, WordsState } from "./Attributes.ts"
import { AttributesRepo, type AttributesWrite } from "./AttributesRepo.ts"
import { CatalogSettings } from "./CatalogSettings.ts"
import { CatalogTransactionRepo } from "./CatalogTransactionRepo.ts"
import type { CatalogEntity, EntityChange } from "./Entity.ts"
import { EntityRepo, type EntityWrite } from "./EntityRepo.ts"
import { EntityFields } from "./fields/EntityFields.ts"
import { stateOfWords } from "./locales/Approval.ts"
import { DraftRepo } from "./locales/DraftRepo.ts"

/** What is to be written, and the entity before it where somebody listens who wants to know. */
export interface Considered {
  readonly change: EntityChange
  readonly old: CatalogEntity | undefined
}

/**
 * The steps that every change of an entity is made of, whoever makes it: a request, a restoration, a date that has come.
 * Hooks are asked before anything is written and told after all of it is.
 */
export class EntityChanges extends Context.Service<EntityChanges, {
  /** Asks the before-hooks; 422 when one refuses. */
  readonly consider: (
    id: string,
    sent: EntityChange
  ) => Effect.Effect<Considered, NotFound | ValidationFailed, CurrentActor>
  /** Tells the after-hooks. */
  readonly updated: (
    entity: CatalogEntity,
    old?: CatalogEntity,
    extra?: Extra
  ) => Effect.Effect<void, never, CurrentActor>
  /** Writes the entity, held to its custom fields where they are written. */
  readonly write: (
    id: string,
    change: EntityWrite
  ) => Effect.Effect<CatalogEntity, NotFound | Conflict | ValidationFailed, CurrentActor>
  /** Writes approved words; 404, and 422 for a first write without title. */
  readonly writeWords: (
    id: string,
    locale: string,
    change: AttributesChange
  ) => Effect.Effect<AttributesWrite, NotFound | ValidationFailed, CurrentActor>
  readonly saveDraft: (
    id: string,
    locale: string,
    change: AttributesChange
  ) => Effect.Effect<void, NotFound | ValidationFailed, CurrentActor>
  /** What becomes of words that the actor writes; 403 when he may not approve what he wants approved. */
  readonly stateOf: (sent: WordsState | undefined) => Effect.Effect<WordsState, Forbidden, CurrentActor>
}>()("stoa/domain/catalog/EntityChanges") {
  static readonly layer = Layer.effect(
    EntityChanges,
    Effect.gen(function*() {
      const repo = yield* EntityRepo
      const words = yield* AttributesRepo
      const drafts = yield* DraftRepo
      const fields = yield* EntityFields
      const transaction = yield* CatalogTransactionRepo
      const settings = yield* CatalogSettings
      const hooks = yield* Hooks

      /** The hooks of a type need the entity read, which costs a statement only where there are such hooks. */
      const consider = Effect.fnUntraced(function*(id: string, sent: EntityChange) {
        const general = yield* hooks.before("catalog.beforeUpdate", sent, { entityId: id })
        if (!hooks.hasAny(needsOldRow)) return { change: general, old: undefined }
        const old = (yield* repo.findById(id, [])) ?? (yield* unknownEntity)
        const change = yield* hooks.before(`catalog.${old.type}.beforeUpdate`, general, { entityId: id })
        return { change, old }
      })

      const updated = Effect.fnUntraced(function*(entity: CatalogEntity, old?: CatalogEntity, extra?: Extra) {
        yield* hooks.after("catalog.afterUpdate", entity, old, extra)
        yield* hooks.after(`catalog.${entity.type}.afterUpdate`, entity, old, extra)
      })

      const withFields = Effect.fnUntraced(function*(id: string, change: EntityWrite, sent: object) {
        return yield* repo.update(id, change, yield* fields.ofKnown(id, { ...sent }, change.replacesFields === true))
      })

      const write = Effect.fnUntraced(function*(id: string, change: EntityWrite) {
        const written = change.customFields === undefined
          ? repo.update(id, change)
          : transaction.run(withFields(id, change, change.customFields))
        return (yield* written) ?? (yield* unknownEntity)
      })

      const writeWords = Effect.fnUntraced(function*(id: string, locale: string, change: AttributesChange) {
        const written = yield* words.put(id, locale, change)
        if (written._tag === "NoEntity") return yield* unknownEntity
        return written._tag === "NoTitle" ? yield* titleMissing : written
      })

      const saveDraft = Effect.fnUntraced(function*(id: string, locale: string, change: AttributesChange) {
        const saved = yield* drafts.save(id, locale, change)
        if (saved === "NoEntity") return yield* unknownEntity
        if (saved === "NoTitle") return yield* titleMissing
      })

      const stateOf = (sent: WordsState | undefined) =>
        Effect.flatMap(CurrentActor, (actor) => stateOfWords(actor, settings, sent))

      return { consider, updated, write, writeWords, saveDraft, stateOf }
    })
  )
}

/** Hooks for which the entity has to be read before it is changed: those of its type, and those that compare. */
const needsOldRow = /^catalog\.(.+\.beforeUpdate|(.+\.)?afterUpdate)$/

const unknownEntity = NotFound.of("Catalog entity not found.")
const titleMissing = ValidationFailed.of("title", "is required the first time a locale is written", "required")
