import { Context, Effect, Equal, Layer, Result } from "effect"
import type { CurrentActor } from "../../access/Actor.ts"
import { Conflict, NotFound, ValidationFailed } from "../../errors/ApiErrors.ts"
import { CatalogTransactionRepo } from "../CatalogTransactionRepo.ts"
import type { FieldDefinition, FieldDefinitionChange, NewFieldDefinition } from "./FieldDefinition.ts"
import {
  type DefinitionChange,
  type DefinitionDraft,
  FieldDefinitionRepo,
  valuesPerLook
} from "./FieldDefinitionRepo.ts"
import { checkValue, definitionIssues } from "./FieldRules.ts"

type Refused = NotFound | Conflict | ValidationFailed

/**
 * Custom fields of entities by type (docs/catalog.md). A change is refused while values are there that it would not
 * allow; one that makes a field required gives the default to entities without a value.
 */
export class FieldDefinitions extends Context.Service<FieldDefinitions, {
  readonly list: FieldDefinitionRepo["Service"]["page"]
  readonly get: (id: string) => Effect.Effect<FieldDefinition, NotFound, CurrentActor>
  /** 409 for a name that is taken, and for a required field without default while there are entities of the type. */
  readonly create: (input: NewFieldDefinition) => Effect.Effect<FieldDefinition, Refused, CurrentActor>
  /** 409 while values are there that the field would refuse, or that are not unique. */
  readonly update: (id: string, change: FieldDefinitionChange) => Effect.Effect<FieldDefinition, Refused, CurrentActor>
  /** Its values stay and are neither shown, searched nor held to it any more. */
  readonly archive: (id: string) => Effect.Effect<FieldDefinition, Refused, CurrentActor>
  /** Brings it back with its values, as far as they are still allowed: 409 as for a change. */
  readonly restore: (id: string) => Effect.Effect<FieldDefinition, Refused, CurrentActor>
}>()("stoa/domain/catalog/fields/FieldDefinitions") {
  static readonly layer = Layer.effect(
    FieldDefinitions,
    Effect.gen(function*() {
      const repo = yield* FieldDefinitionRepo
      const transaction = yield* CatalogTransactionRepo

      const get = Effect.fn("FieldDefinitions.get")(function*(id: string) {
        return (yield* repo.find(id)) ?? (yield* unknownField)
      })

      const { allowed, required, sameReferences } = valueRules(repo)

      const create = Effect.fn("FieldDefinitions.create")(function*(input: NewFieldDefinition) {
        const draft = drafted(input)
        const issues = definitionIssues(draft)
        if (issues.length > 0) return yield* ValidationFailed.issues(issues)
        return yield* transaction.run(Effect.gen(function*() {
          yield* repo.lockType(draft.entityType)
          const made = yield* repo.create(draft)
          yield* required(made)
          return made
        }))
      })

      const changed = Effect.fnUntraced(
        function*(id: string, type: DefinitionChange, change: (before: FieldDefinition) => FieldDefinition) {
          const { entityType } = yield* get(id)
          yield* repo.lockType(entityType)
          // Read again behind the lock: another change may have come first.
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
        update: (id: string, change: FieldDefinitionChange) =>
          transaction.run(changed(id, "entityFields.update", (before) => ({ ...before, ...given(change) }))),
        archive: (id: string) => setStatus(id, "archived"),
        restore: (id: string) => setStatus(id, "active")
      }
    })
  )
}

/** What the values that are there say to a definition. */
const valueRules = (repo: FieldDefinitionRepo["Service"]) => {
  /** Entities without a value get the default, or the field cannot be required of them. */
  const required = Effect.fnUntraced(function*(definition: FieldDefinition) {
    if (!definition.isRequired || definition.status === "archived") return
    const lacking = yield* repo.lacking(definition)
    if (lacking === 0) return
    if (definition.defaultValue === null) return yield* Conflict.of(needsDefault(lacking))
    yield* repo.fill(definition)
  })

  const allowed = Effect.fnUntraced(function*(definition: FieldDefinition) {
    for (let after = first; after !== undefined;) {
      const page: Effect.Success<ReturnType<typeof repo.values>> = yield* repo.values(definition.id, after)
      for (const { entityId, value } of page) {
        const checked = checkValue(definition, value)
        if (Result.isFailure(checked)) return yield* Conflict.of(refusedValue(entityId, checked.failure))
      }
      const last = page.length < valuesPerLook ? undefined : page.at(-1)?.entityId
      if (last === undefined) return
      after = last
    }
  })

  /** Ids that were never held to name an entity cannot begin to. */
  const sameReferences = Effect.fnUntraced(function*(before: FieldDefinition, after: FieldDefinition) {
    const becomes = after.kind === "reference" &&
      (before.kind !== "reference" || before.rules.entityType !== after.rules.entityType)
    if (becomes && (yield* repo.values(before.id, first)).length > 0) return yield* noReferences
  })

  return { required, allowed, sameReferences }
}

/** Before all ids. */
const first = "00000000-0000-0000-0000-000000000000"

const unknownField = NotFound.of("Custom field not found.")

const noReferences = Conflict.of("Entities have values in this field, which were not looked up as references.")

const needsDefault = (lacking: number) =>
  `${lacking} entities of this type have no value of this field. Give it a default, or them a value.`

const refusedValue = (entityId: string, reason: string) => `Entity ${entityId} has a value that ${reason}.`

const drafted = (
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

/** The keys that were sent. */
const given = (
  { defaultValue, isFilterable, isPublic, isRequired, isUnique, kind, label, rules, sortOrder }: FieldDefinitionChange
) => ({
  ...kind === undefined ? {} : { kind },
  ...label === undefined ? {} : { label },
  ...isRequired === undefined ? {} : { isRequired },
  ...isUnique === undefined ? {} : { isUnique },
  ...isFilterable === undefined ? {} : { isFilterable },
  ...isPublic === undefined ? {} : { isPublic },
  ...rules === undefined ? {} : { rules },
  ...defaultValue === undefined ? {} : { defaultValue },
  ...sortOrder === undefined ? {} : { sortOrder }
})
