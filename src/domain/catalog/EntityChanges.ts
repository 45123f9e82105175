import { Context, Effect, Layer } from "effect"
import { CurrentActor, holds } from "../platform/access/Actor.ts"
import { type Issue, ValidationFailed } from "../platform/errors/ApiErrors.ts"
import { forbidden } from "../platform/errors/ErrorKinds.ts"
import type { Extra } from "../platform/hooks/HookRuns.ts"
import { Hooks } from "../platform/hooks/Hooks.ts"
import type { EntityId } from "../platform/ids/Id.ts"
import { AttributesRepo } from "./AttributesRepo.ts"
import { CatalogTransactionRepo } from "./CatalogChangeRepo.ts"
import { CatalogSettings } from "./CatalogSettings.ts"
import {
  type ApprovalStatus,
  type CatalogEntity,
  type EntityChange,
  EntityNotFound,
  type SourcedEntity
} from "./Entity.ts"
import { type CompleteEntity, EntityRepo, type EntityWrite } from "./EntityRepo.ts"
import { EntityFieldRepo } from "./fields/EntityFieldRepo.ts"
import { assigned, type FieldDefinition, type FieldsByName } from "./fields/FieldDefinition.ts"
import { policyOf } from "./TypePolicy.ts"

class NotApprover extends forbidden("Approval", "Permission 'catalog:approve' is required.") {}

/** The steps of every change of an entity. Before-hooks run before the first write, after-hooks after the last. */
export class EntityChanges extends Context.Service<EntityChanges>()("stoa/domain/catalog/EntityChanges", {
  make: Effect.gen(function*() {
    const repo = yield* EntityRepo
    const attributes = yield* AttributesRepo
    const fields = fieldValidation(yield* EntityFieldRepo)
    const transaction = yield* CatalogTransactionRepo
    const settings = yield* CatalogSettings
    const hooks = yield* Hooks

    /** Runs the before-hooks; 422 when one refuses. Reads the previous entity only if a hook needs it. */
    const beforeUpdate = Effect.fnUntraced(function*(id: EntityId, sent: EntityChange) {
      const general = yield* hooks.before("catalog.beforeUpdate", sent, { entityId: id })
      if (!hooks.hasAny(needsOldRow)) return { change: general, old: undefined }
      const old = (yield* repo.findById(id, [])) ?? (yield* new EntityNotFound())
      const change = yield* hooks.before(`catalog.${old.type}.beforeUpdate`, general, { entityId: id })
      return { change, old }
    })

    const afterUpdate = Effect.fnUntraced(function*(entity: CatalogEntity, old?: CatalogEntity, extra?: Extra) {
      yield* hooks.after("catalog.afterUpdate", entity, old, extra)
      yield* hooks.after(`catalog.${entity.type}.afterUpdate`, entity, old, extra)
    })

    const withFields = Effect.fnUntraced(function*(id: EntityId, change: EntityWrite, sent: object) {
      return yield* repo.update(id, change, yield* fields.ofExisting(id, { ...sent }, change.replacesFields === true))
    })

    const write = Effect.fnUntraced(function*(id: EntityId, change: EntityWrite) {
      const written = change.customFields === undefined
        ? repo.update(id, change)
        : transaction.run(withFields(id, change, change.customFields))
      return (yield* written) ?? (yield* new EntityNotFound())
    })

    const afterAttributes = Effect.fnUntraced(
      function*(locale: string, written: Effect.Success<ReturnType<typeof attributes.put>>) {
        if (written === undefined) return
        const changedFieldPaths = written.fields.map((field) => `attributes.${locale}.${field}`)
        yield* afterUpdate(written.entity, written.old, { changedFieldPaths })
      }
    )

    const approvalStatus = Effect.fnUntraced(function*(requested: ApprovalStatus | undefined) {
      const mayApprove = !settings.approveLocales || holds(yield* CurrentActor, "catalog:approve")
      if (requested === "approved" && !mayApprove) return yield* new NotApprover()
      return requested ?? (mayApprove ? "approved" : "draft")
    })

    /** Writes a new entity. Only custom fields and drafts need a transaction. */
    const create = Effect.fnUntraced(function*({ attributes: sent, ...given }: SourcedEntity) {
      const { manageInventory = policyOf(settings.types, given.type).manageInventory } = given
      const input = { ...given, manageInventory }
      const state = sent === undefined ? "approved" : yield* approvalStatus(sent.status)
      const hasFields = input.customFields !== undefined || (yield* fields.hasFields(input.type))
      const write = (entity: CompleteEntity) =>
        hasFields
          ? Effect.flatMap(
            fields.ofNew(entity.type, entity.customFields ?? {}),
            (values) => repo.create(entity, values)
          )
          : repo.create(entity)
      if (sent === undefined || state === "approved") {
        const written = write(sent === undefined ? input : { ...input, attributes: sent })
        return yield* hasFields ? transaction.run(written) : written
      }
      const { locale = "en", ...texts } = sent
      return yield* transaction.run(
        Effect.tap(write(input), (entity) => attributes.saveDraft(entity.id, locale, texts))
      )
    })

    return { create, beforeUpdate, afterUpdate, write, afterAttributes, approvalStatus }
  })
}) {
  static readonly layer = Layer.effect(EntityChanges, EntityChanges.make)
}

const needsOldRow = /^catalog\.(.+\.beforeUpdate|(.+\.)?afterUpdate)$/

const fieldValidation = (repo: EntityFieldRepo["Service"]) => {
  const referenceIssues = Effect.fnUntraced(function*(
    definitions: ReadonlyArray<FieldDefinition>,
    after: FieldsByName,
    sent: FieldsByName
  ) {
    const named = definitions.flatMap(({ kind, name, rules }) => {
      const id = Object.hasOwn(sent, name) && Object.hasOwn(after, name) ? after[name] : undefined
      return kind === "reference" && typeof id === "string" ? [{ id, name, entityType: rules.entityType }] : []
    })
    const types = yield* repo.typesOf(named.map(({ id }) => id))
    return named.flatMap(({ entityType, id, name }): ReadonlyArray<Issue> => {
      const type = types.get(id)
      if (type !== undefined && (entityType === undefined || entityType === type)) return []
      const what = entityType === undefined ? "catalog entity" : `catalog entity of type ${entityType}`
      return [{ path: `customFields.${name}`, message: `customFields.${name} names no ${what}.`, code: "not_found" }]
    })
  })

  const validated = Effect.fnUntraced(function*(
    definitions: ReadonlyArray<FieldDefinition>,
    before: FieldsByName | undefined,
    sent: FieldsByName
  ) {
    const { after, issues } = assigned(definitions, before, sent)
    const all = [...issues, ...yield* referenceIssues(definitions, after, sent)]
    return all.length > 0 ? yield* ValidationFailed.issues(all) : after
  })

  const ofNew = Effect.fn("EntityChanges.fieldsOfNew")(function*(entityType: string, sent: FieldsByName) {
    const definitions = yield* repo.definitionsFor(entityType)
    return { definitions, before: {}, after: yield* validated(definitions, undefined, sent) }
  })

  /**
   * Locks the entity until the transaction ends. 404. With `replaces`, `sent` replaces all values, and fields that the
   * type no longer has are ignored.
   */
  const ofExisting = Effect.fn("EntityChanges.fieldsOfExisting")(
    function*(id: EntityId, sent: FieldsByName, replaces: boolean) {
      const entity = yield* repo.lockEntity(id)
      if (entity === undefined) return yield* new EntityNotFound()
      const definitions = yield* repo.definitionsFor(entity.type)
      const after = replaces
        ? yield* validated(definitions, {}, onlyDefined(definitions, sent))
        : yield* validated(definitions, entity.fields, sent)
      return { definitions, before: entity.fields, after }
    }
  )

  /** Call `ofNew` inside a transaction, if the type has fields. */
  return { hasFields: repo.hasFields, ofNew, ofExisting }
}

const onlyDefined = (definitions: ReadonlyArray<FieldDefinition>, sent: FieldsByName): FieldsByName =>
  Object.fromEntries(definitions.flatMap(({ name }) => Object.hasOwn(sent, name) ? [[name, sent[name]]] : []))
