import { Context, DateTime, Effect, Equal, Layer, Result } from "effect"
import { currentOrganization } from "../../platform/access/Actor.ts"
import { ValidationFailed } from "../../platform/errors/ApiErrors.ts"
import { type FieldDefinitionId, newId, nilId } from "../../platform/ids/Id.ts"
import { withSent } from "../../platform/resources/RecordService.ts"
import { CatalogTransactionRepo } from "../CatalogChangeRepo.ts"
import {
  checkValue,
  DefaultNeeded,
  definitionIssues,
  type FieldDefinition,
  type FieldDefinitionChange,
  type NewFieldDefinition,
  ReferencesUnchecked,
  ValueRefused
} from "./FieldDefinition.ts"
import { type DefinitionChange, FieldDefinitionRepo, valuesPerPage } from "./FieldDefinitionRepo.ts"

/** Custom fields of entities by type (docs/catalog.md). A change fails while existing values violate it. */
export class FieldDefinitions
  extends Context.Service<FieldDefinitions>()("stoa/domain/catalog/fields/FieldDefinitions", {
    make: Effect.gen(function*() {
      const repo = yield* FieldDefinitionRepo
      const transaction = yield* CatalogTransactionRepo
      const { allowed, required, sameReferences } = valueRules(repo)

      const inserted = Effect.fnUntraced(function*(definition: FieldDefinition) {
        yield* repo.lockType(definition.entityType)
        const created = yield* repo.create(definition)
        yield* required(created)
        return created
      })

      /** 409 when the name exists, and for a required field without default while entities of the type exist. */
      const create = Effect.fn("FieldDefinitions.create")(function*(input: NewFieldDefinition) {
        const now = DateTime.toDateUtc(yield* DateTime.now)
        const definition = withSent<FieldDefinition>({
          id: newId(),
          organizationId: yield* currentOrganization,
          ...unsent(input),
          status: "active",
          createdAt: now,
          updatedAt: now
        }, input)
        const issues = definitionIssues(definition)
        if (issues.length > 0) return yield* ValidationFailed.issues(issues)
        return yield* transaction.run(inserted(definition))
      })

      const changed = Effect.fnUntraced(
        function*(
          id: FieldDefinitionId,
          type: DefinitionChange,
          change: FieldDefinitionChange | Pick<FieldDefinition, "status">
        ) {
          const { entityType } = yield* repo.find(id)
          yield* repo.lockType(entityType)
          const before = yield* repo.find(id)
          const after = withSent<FieldDefinition>(before, change)
          if (Equal.equals(before, after)) return before
          const issues = definitionIssues(after)
          if (issues.length > 0) return yield* ValidationFailed.issues(issues)
          yield* sameReferences(before, after)
          yield* allowed(after)
          const written = yield* repo.write({ ...after, updatedAt: DateTime.toDateUtc(yield* DateTime.now) }, type)
          if (before.isUnique !== after.isUnique || before.kind !== after.kind) yield* repo.setKeys(after)
          yield* required(after)
          return written
        }
      )

      return {
        list: repo.page,
        get: repo.find,
        create,
        /** 409 while existing values violate the change or are not unique. */
        update: (id: FieldDefinitionId, change: FieldDefinitionChange) =>
          transaction.run(changed(id, "entityFields.update", change)),
        /** Keeps the values but no longer shows, searches or validates them. */
        archive: (id: FieldDefinitionId) =>
          transaction.run(changed(id, "entityFields.archive", { status: "archived" })),
        /** Shows the field with its values again. 409 as for a change. */
        restore: (id: FieldDefinitionId) => transaction.run(changed(id, "entityFields.restore", { status: "active" }))
      }
    })
  })
{
  static readonly layer = Layer.effect(FieldDefinitions, FieldDefinitions.make)
}

const valueRules = (repo: FieldDefinitionRepo["Service"]) => {
  const required = Effect.fnUntraced(function*(definition: FieldDefinition) {
    if (!definition.isRequired || definition.status === "archived") return
    const lacking = yield* repo.lacking(definition)
    if (lacking === 0) return
    if (definition.defaultValue === null) return yield* new DefaultNeeded(lacking)
    yield* repo.fill(definition)
  })

  const allowed = Effect.fnUntraced(function*(definition: FieldDefinition) {
    for (let after = nilId; after !== undefined;) {
      const page: Effect.Success<ReturnType<typeof repo.values>> = yield* repo.values(definition.id, after)
      for (const { entityId, value } of page) {
        const checked = checkValue(definition, value)
        if (Result.isFailure(checked)) return yield* new ValueRefused(entityId, checked.failure)
      }
      const last = page.length < valuesPerPage ? undefined : page.at(-1)?.entityId
      if (last === undefined) return
      after = last
    }
  })

  /** Existing values were not checked as references, so a field with values cannot become one. */
  const sameReferences = Effect.fnUntraced(function*(before: FieldDefinition, after: FieldDefinition) {
    const becomes = after.kind === "reference" &&
      (before.kind !== "reference" || before.rules.entityType !== after.rules.entityType)
    if (becomes && (yield* repo.values(before.id, nilId)).length > 0) return yield* new ReferencesUnchecked()
  })

  return { required, allowed, sameReferences }
}

const unsent = ({ entityType, kind, name }: NewFieldDefinition) => ({
  entityType,
  name,
  kind,
  label: name,
  isRequired: false,
  isUnique: false,
  isFilterable: false,
  isPublic: true,
  rules: {},
  defaultValue: null,
  sortOrder: 0
})
