import { Context, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { type CurrentActor, currentOrganization } from "../../access/Actor.ts"
import { EntityFieldRepo } from "../fields/EntityFieldRepo.ts"
import type { FieldDefinition } from "../fields/FieldDefinition.ts"
import type { FieldsByName } from "../fields/FieldRules.ts"
import { type FieldState, type Referable, uniqueKey } from "./FieldPlan.ts"

/** The custom fields of a record, and the type of its entity. */
export interface FieldsOfRecord {
  readonly type: string
  readonly fields: FieldsByName
}

/** Reads the state that custom fields of a batch are validated against. */
export class FieldStateRepo extends Context.Service<FieldStateRepo, {
  /**
   * Definitions and referenced entities, locked until the transaction ends; two statements without fields, four with.
   * Call it after locking the entities, to keep the lock order.
   */
  readonly read: (records: ReadonlyArray<FieldsOfRecord>) => Effect.Effect<FieldState, never, CurrentActor>
}>()("stoa/domain/catalog/import-export/FieldStateRepo") {
  static readonly layer = Layer.effect(
    FieldStateRepo,
    Effect.map(Effect.all([SqlClient.SqlClient, EntityFieldRepo]), ([sql, fields]) => make(sql, fields))
  )
}

/** The values that the records send for the selected fields. */
const sentFor = (
  records: ReadonlyArray<FieldsOfRecord>,
  definitions: FieldState["definitions"],
  picked: (definition: FieldDefinition) => boolean
) =>
  records.flatMap(({ fields, type }) =>
    (definitions.get(type) ?? []).filter(picked).flatMap((definition) => {
      const value = Object.hasOwn(fields, definition.name) ? fields[definition.name] : null
      return value === null || value === undefined ? [] : [{ definition, value }]
    })
  )

const make = (sql: SqlClient.SqlClient, fields: EntityFieldRepo["Service"]): FieldStateRepo["Service"] => {
  const named = (organization: string, slugs: ReadonlyArray<string>) =>
    sql<Referable & { readonly slug: string }>`select id, type, slug from catalog_entities
      where organization_id = ${organization} and slug = any(${slugs}::text[]) order by id for key share`.unprepared

  const owned = (organization: string, keys: ReadonlyArray<{ readonly id: string; readonly value: unknown }>) =>
    sql<{ readonly id: string; readonly value: unknown; readonly entity_id: string }>`
      select f.definition_id as id, f.value, f.entity_id
      from jsonb_to_recordset(${JSON.stringify(keys)}::jsonb) as x(id uuid, value jsonb)
        join entity_field_values f on f.definition_id = x.id and f.unique_key = x.value #>> '{}'
      where f.organization_id = ${organization}`.unprepared

  const read = Effect.fn("FieldStateRepo.read")(function*(records: ReadonlyArray<FieldsOfRecord>) {
    const organization = yield* currentOrganization
    const definitions = yield* fields.definitionsOf([...new Set(records.map(({ type }) => type))])
    if (definitions.size === 0) return { definitions, referables: new Map(), owners: new Map() }
    const slugs = sentFor(records, definitions, ({ kind }) => kind === "reference").map(({ value }) => value)
    const referables = new Map((yield* named(organization, slugs.filter((slug) => typeof slug === "string"))).map(
      ({ id, slug, type }) => [slug, { id, type }] as const
    ))
    const keys = sentFor(records, definitions, ({ isUnique }) => isUnique).flatMap(({ definition, value }) => {
      const key = definition.kind === "reference" ? referables.get(String(value))?.id : value
      return key === undefined ? [] : [{ id: definition.id, value: key }]
    })
    const owners = yield* owned(organization, keys)
    return {
      definitions,
      referables,
      owners: new Map(owners.map(({ entity_id, id, value }) => [uniqueKey(id, value), entity_id]))
    }
  }, Effect.orDie)

  return { read }
}
