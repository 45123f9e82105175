import { Context, Effect, Layer } from "effect"
import { type Issue, NotFound, ValidationFailed } from "../../errors/ApiErrors.ts"
import { EntityFieldRepo } from "./EntityFieldRepo.ts"
import type { FieldDefinition } from "./FieldDefinition.ts"
import { assigned, type FieldsByName } from "./FieldRules.ts"

/** Validates the custom fields of every entity write against the definitions of its type (docs/catalog.md). */
export class EntityFields extends Context.Service<EntityFields>()("stoa/domain/catalog/fields/EntityFields", {
  make: Effect.gen(function*() {
    const repo = yield* EntityFieldRepo

    /** Issues of references that name no entity of the organization, or one of another type. */
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
        return [{ path: `customFields.${name}`, message: `No such ${what}.`, code: "not_found" }]
      })
    })

    const write = Effect.fnUntraced(function*(
      definitions: ReadonlyArray<FieldDefinition>,
      before: FieldsByName | undefined,
      sent: FieldsByName
    ) {
      const { after, issues } = assigned(definitions, before, sent)
      const all = [...issues, ...yield* referenceIssues(definitions, after, sent)]
      return all.length > 0 ? yield* ValidationFailed.issues(all) : after
    })

    const ofNew = Effect.fn("EntityFields.ofNew")(function*(entityType: string, sent: FieldsByName) {
      const definitions = yield* repo.definitionsFor(entityType)
      return { definitions, before: {}, after: yield* write(definitions, undefined, sent) }
    })

    /**
     * Locks the entity until the transaction ends. 404. With `replaces`, `sent` replaces all values, and fields that the
     * type no longer has are ignored.
     */
    const ofExisting = Effect.fn("EntityFields.ofExisting")(
      function*(id: string, sent: FieldsByName, replaces = false) {
        const entity = yield* repo.lockEntity(id)
        if (entity === undefined) return yield* NotFound.of("Catalog entity not found.")
        const definitions = yield* repo.definitionsFor(entity.type)
        const after = replaces
          ? yield* write(definitions, {}, onlyDefined(definitions, sent))
          : yield* write(definitions, entity.fields, sent)
        return { definitions, before: entity.fields, after }
      }
    )

    return {
      /** Whether a new entity of this type has fields; if so, call `ofNew` inside a transaction. */
      hasFields: repo.hasFields,
      ofNew,
      ofExisting
    }
  })
}) {
  static readonly layer = Layer.effect(EntityFields, EntityFields.make)
}

const onlyDefined = (definitions: ReadonlyArray<FieldDefinition>, sent: FieldsByName): FieldsByName =>
  Object.fromEntries(
    definitions.flatMap(({ name }) => Object.hasOwn(sent, name) ? [[name, sent[name]] as const] : [])
  )
