import { Context, Effect, Layer } from "effect"
import type { CurrentActor } from "../../access/Actor.ts"
import { type Issue, NotFound, ValidationFailed } from "../../errors/ApiErrors.ts"
import { EntityFieldRepo, type FieldWrite } from "./EntityFieldRepo.ts"
import type { FieldDefinition } from "./FieldDefinition.ts"
import { assigned, type FieldsByName } from "./FieldRules.ts"

/** Custom fields of entities that are written (docs/catalog.md): every write is held to what the type's fields ask for. */
export class EntityFields extends Context.Service<EntityFields, {
  /** Whether a new entity of this type has to be written with its fields; then `ofNew` comes inside of a transaction. */
  readonly hasFields: EntityFieldRepo["Service"]["hasFields"]
  readonly ofNew: (entityType: string, sent: FieldsByName) => Effect.Effect<FieldWrite, ValidationFailed, CurrentActor>
  /**
   * Locks the entity until the transaction ends. 404. With `replaces`, what was sent is all that the entity is to have;
   * fields that its type no longer has are left out then.
   */
  readonly ofKnown: (
    id: string,
    sent: FieldsByName,
    replaces?: boolean
  ) => Effect.Effect<FieldWrite, NotFound | ValidationFailed, CurrentActor>
}>()("stoa/domain/catalog/fields/EntityFields") {
  static readonly layer = Layer.effect(
    EntityFields,
    Effect.gen(function*() {
      const repo = yield* EntityFieldRepo

      /** References name entities of the organization, of the type that their field asks for. */
      const strayReferences = Effect.fnUntraced(function*(
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
        const all = [...issues, ...yield* strayReferences(definitions, after, sent)]
        return all.length > 0 ? yield* ValidationFailed.issues(all) : after
      })

      const ofNew = Effect.fn("EntityFields.ofNew")(function*(entityType: string, sent: FieldsByName) {
        const definitions = yield* repo.definitionsFor(entityType)
        return { definitions, before: {}, after: yield* write(definitions, undefined, sent) }
      })

      const ofKnown = Effect.fn("EntityFields.ofKnown")(
        function*(id: string, sent: FieldsByName, replaces = false) {
          const entity = yield* repo.lockEntity(id)
          if (entity === undefined) return yield* NotFound.of("Catalog entity not found.")
          const definitions = yield* repo.definitionsFor(entity.type)
          const after = replaces
            ? yield* write(definitions, {}, onlyKnown(definitions, sent))
            : yield* write(definitions, entity.fields, sent)
          return { definitions, before: entity.fields, after }
        }
      )

      return { hasFields: repo.hasFields, ofNew, ofKnown }
    })
  )
}

const onlyKnown = (definitions: ReadonlyArray<FieldDefinition>, sent: FieldsByName): FieldsByName =>
  Object.fromEntries(
    definitions.flatMap(({ name }) => Object.hasOwn(sent, name) ? [[name, sent[name]] as const] : [])
  )
