import { Context, Effect, Layer } from "effect"
import { SqlClient, type Statement } from "effect/sql"
import { CurrentActor, currentOrganization } from "../../access/Actor.ts"
import { lookupSql } from "../../modules/LookupRepo.ts"
import type { FieldDefinition } from "./FieldDefinition.ts"
import { definitions } from "./FieldDefinitionRepo.ts"
import type { FieldsByName } from "./FieldRules.ts"
import { fieldsByName } from "./FieldTablesRepo.ts"

/** Values that a statement writes with its entity (`fieldWrites`): all values before and after it. */
export interface FieldWrite {
  readonly definitions: ReadonlyArray<FieldDefinition>
  readonly before: FieldsByName
  readonly after: FieldsByName
}

/** Reads and locks for writers of custom fields, inside their transaction. */
export class EntityFieldRepo extends Context.Service<EntityFieldRepo>()("stoa/domain/catalog/fields/EntityFieldRepo", {
  make: Effect.map(Effect.all([SqlClient.SqlClient, lookupSql]), ([sql, lookup]) => make(sql, lookup))
}) {
  static readonly layer = Layer.effect(EntityFieldRepo, EntityFieldRepo.make)
}

/** CTEs that write the values of the entity in the CTE `entity`: values that are not in `after` are deleted. */
export const fieldWrites = (sql: SqlClient.SqlClient, write: FieldWrite, entity: string): Statement.Fragment => {
  const rows = write.definitions.flatMap(({ id, isUnique, kind, name }) => {
    const value = Object.hasOwn(write.after, name) ? write.after[name] : undefined
    return value === undefined ? [] : [{ id, value, isUnique, isReference: kind === "reference" }]
  })
  const removed = write.definitions.filter(({ name }) => !Object.hasOwn(write.after, name)).map(({ id }) => id)
  const from = sql.literal(entity)
  return sql`fields_set as (
      insert into entity_field_values as f (organization_id, entity_id, definition_id, value, unique_key, reference_id)
      select e.organization_id, e.id, (i->>'id')::uuid, i->'value',
        case when (i->>'isUnique')::boolean then i->>'value' end,
        case when (i->>'isReference')::boolean then (i->>'value')::uuid end
      from ${from} e, jsonb_array_elements(${JSON.stringify(rows)}::jsonb) i
      on conflict (entity_id, definition_id) do update set value = excluded.value, unique_key = excluded.unique_key,
        reference_id = excluded.reference_id
        where f.value <> excluded.value
      returning 1),
    fields_removed as (delete from entity_field_values f using ${from} e
      where f.entity_id = e.id and f.organization_id = e.organization_id and f.definition_id = any(${removed}::uuid[])
      returning 1)`
}

const make = (sql: SqlClient.SqlClient, lookup: SqlClient.SqlClient) => {
  /** Whether entities of this type have any fields. Call it before the transaction starts. */
  const hasFields = Effect.fn("EntityFieldRepo.hasFields")(function*(entityType: string) {
    const organization = yield* currentOrganization
    const rows = yield* lookup`select 1 from entity_field_schemas
      where organization_id = ${organization} and entity_type = ${entityType}`
    return rows.length > 0
  }, Effect.orDie)

  /** Locks the entity and returns its type and values; undefined when there is no such entity. */
  const lockEntity = Effect.fn("EntityFieldRepo.lockEntity")(function*(id: string) {
    const organization = yield* currentOrganization
    const [entity] = yield* sql<{ readonly type: string }>`select type from catalog_entities
      where id = ${id}::uuid and organization_id = ${organization} for no key update`
    if (entity === undefined) return undefined
    // A separate statement: one that waited for the lock would not see what was written meanwhile.
    const [values] = yield* sql<{ readonly fields: FieldsByName }>`select ${
      sql.literal(fieldsByName("e.id"))
    } as fields from catalog_entities e where e.id = ${id}::uuid and e.organization_id = ${organization}`
    return { type: entity.type, fields: values?.fields ?? {} }
  }, Effect.orDie)

  /** The active fields of a type, locked until the transaction ends. */
  const definitionsFor = Effect.fn("EntityFieldRepo.definitionsFor")(function*(entityType: string) {
    const organization = yield* currentOrganization
    yield* sql`select 1 from entity_field_schemas
      where organization_id = ${organization} and entity_type = ${entityType} for share`
    return yield* definitions.rows(sql)`select ${sql.literal(definitions.columns())} from entity_field_definitions
      where organization_id = ${organization} and entity_type = ${entityType} and status = 'active'
      order by sort_order, name`
  }, Effect.orDie)

  /** Types of the entities that the organization has, by id; locked until the transaction ends. */
  const typesOf = Effect.fn("EntityFieldRepo.typesOf")(function*(ids: ReadonlyArray<string>) {
    const actor = yield* CurrentActor
    if (ids.length === 0) return new Map<string, string>()
    const rows = yield* sql<{ readonly id: string; readonly type: string }>`select id, type from catalog_entities
      where id = any(${ids}::uuid[]) and organization_id = ${actor.organizationId} order by id for key share`
    return new Map(rows.map(({ id, type }) => [id, type]))
  }, Effect.orDie)

  /** The same for several types in two statements; types without fields are left out. */
  const definitionsOf = Effect.fn("EntityFieldRepo.definitionsOf")(function*(entityTypes: ReadonlyArray<string>) {
    const organization = yield* currentOrganization
    // Two statements: one that waited for a lock would not see what was written meanwhile.
    yield* sql`select 1 from entity_field_schemas where organization_id = ${organization}
      and entity_type = any(${entityTypes}::text[]) order by entity_type for share`.unprepared
    const rows = yield* definitions.rows(sql, "unprepared")`select ${
      sql.literal(definitions.columns())
    } from entity_field_definitions
      where organization_id = ${organization} and entity_type = any(${entityTypes}::text[]) and status = 'active'
      order by entity_type, sort_order, name`
    return Map.groupBy(rows, ({ entityType }) => entityType)
  }, Effect.orDie)

  return { hasFields, lockEntity, definitionsFor, definitionsOf, typesOf }
}
