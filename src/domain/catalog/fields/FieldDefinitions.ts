import { Context, Effect, Equal, Layer, Result } from "effect"
import { Conflict, NotFound, ValidationFailed } from "../../errors/ApiErrors.ts"
import { CatalogTransactionRepo } from "../CatalogTransactionRepo.ts"
import type { FieldDefinition, FieldDefinitionChange, NewFieldDefinition } from "./FieldDefinition.ts"
import {
  type DefinitionChange,
  type DefinitionDraft,
  FieldDefinitionRepo,
  valuesPerPage
} from "./FieldDefinitionRepo.ts"
import { checkValue, definitionIssues } from "./FieldRules.ts"

/**
 * Custom fields of entities by type (docs/catalog.md). A change fails while existing values violate it. A field that
 * becomes required gives its default to entities without a value.
 */
export class FieldDefinitions
  extends Context.Service<FieldDefinitions>()("stoa/domain/catalog/fields/FieldDefinitions", {
    make: Effect.gen(function*() {
      const repo = yield* FieldDefinitionRepo
      const transaction = yield* CatalogTransactionRepo

      const get = Effect.fn("FieldDefinitions.get")(function*(id: string) {
        return (yield* repo.find(id)) ?? (yield* unknownField)
      })

      const { allowed, required, sameReferences } = valueRules(repo)

      /** 409 when the name exists, and for a required field without default while entities of the type exist. */
      const create = Effect.fn("FieldDefinitions.create")(function*(input: NewFieldDefinition) {
        const draft = draftOf(input)
        const issues = definitionIssues(draft)
        if (issues.length > 0) return yield* ValidationFailed.issues(issues)
        return yield* transaction.run(Effect.gen(function*() {
          yield* repo.lockType(draft.entityType)
          const created = yield* repo.create(draft)
          yield* required(created)
          return created
        }))
      })

      const changed = Effect.fnUntraced(
        function*(id: string, type: DefinitionChange, change: (before: FieldDefinition) => FieldDefinition) {
          const { entityType } = yield* get(id)
          yield* repo.lockType(entityType)
          // Read again under the lock: another change may have committed first.
          const before = yield* get(id)
          const after = change(before)
          if (Equal.equals(before, after)) return before
          const issues = definitionIssues(after)
          if (issues.length > 0) return yield* ValidationFailed.issues(issues)
          yield* sameReferences(before, after)
          yield* allowed(after)
          const written = yield* repo.write(before, after, type)
          if (before.isUnique !== after.isUnique || before.kind !== after.kind) yield* repo.setKeys(after)
          yield* required(after)
          return written
        }
      )

      const setStatus = (id: string, status: FieldDefinition["status"]) =>
        transaction.run(changed(
          id,
          status === "archived" ? "entityFields.archive" : "entityFields.restore",
          (before) => ({ ...before, status })
        ))

      return {
        list: repo.page,
        get,
        create,
        /** 409 while existing values violate the change or are not unique. */
        update: (id: string, change: FieldDefinitionChange) =>
          transaction.run(changed(id, "entityFields.update", changedBy(change))),
        /** Keeps the values but no longer shows, searches or validates them. */
        archive: (id: string) => setStatus(id, "archived"),
        /** Shows the field with its values again. 409 as for a change. */
        restore: (id: string) => setStatus(id, "active")
      }
    })
  })
{
  static readonly layer = Layer.effect(FieldDefinitions, FieldDefinitions.make)
}

/** Checks of a definition against existing values. */
const valueRules = (repo: FieldDefinitionRepo["Service"]) => {
  /** Gives the default to entities without a value; without a default the field cannot be required. */
  const required = Effect.fnUntraced(function*(definition: FieldDefinition) {
    if (!definition.isRequired || definition.status === "archived") return
    const lacking = yield* repo.lacking(definition)
    if (lacking === 0) return
    if (definition.defaultValue === null) return yield* Conflict.of(needsDefault(lacking))
    yield* repo.fill(definition)
  })

  const allowed = Effect.fnUntraced(function*(definition: FieldDefinition) {
    for (let after = beforeAllIds; after !== undefined;) {
      const page: Effect.Success<ReturnType<typeof repo.values>> = yield* repo.values(definition.id, after)
      for (const { entityId, value } of page) {
        const checked = checkValue(definition, value)
        if (Result.isFailure(checked)) return yield* Conflict.of(refusedValue(entityId, checked.failure))
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
    if (becomes && (yield* repo.values(before.id, beforeAllIds)).length > 0) return yield* noReferences
  })

  return { required, allowed, sameReferences }
}

/** Sorts before every id. */
const beforeAllIds = "00000000-0000-0000-0000-000000000000"

const unknownField = NotFound.of("Custom field not found.")

const noReferences = Conflict.of("Entities have values in this field, which were not looked up as references.")

const needsDefault = (lacking: number) =>
  `${lacking} entities of this type have no value of this field. Give it a default, or them a value.`

const refusedValue = (entityId: string, reason: string) => `Entity ${entityId} has a value that ${reason}.`

const draftOf = (
  { defaultValue = null, label, rules = {}, sortOrder = 0, ...input }: NewFieldDefinition
): DefinitionDraft => ({
  entityType: input.entityType,
  name: input.name,
  kind: input.kind,
  label: label ?? input.name,
  isRequired: input.isRequired ?? false,
  isUnique: input.isUnique ?? false,
  isFilterable: input.isFilterable ?? false,
  isPublic: input.isPublic ?? true,
  rules,
  defaultValue,
  sortOrder
})

/** Absent keys keep their value. */
const changedBy = (change: FieldDefinitionChange) => (before: FieldDefinition): FieldDefinition => ({
  ...before,
  kind: change.kind ?? before.kind,
  label: change.label ?? before.label,
  isRequired: change.isRequired ?? before.isRequired,
  isUnique: change.isUnique ?? before.isUnique,
  isFilterable: change.isFilterable ?? before.isFilterable,
  isPublic: change.isPublic ?? before.isPublic,
  rules: change.rules ?? before.rules,
  defaultValue: change.defaultValue === undefined ? before.defaultValue : change.defaultValue,
  sortOrder: change.sortOrder ?? before.sortOrder
})
