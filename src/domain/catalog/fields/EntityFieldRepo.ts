import { Context, Effect, Layer, Schema } from "effect"
import { SqlClient, type Statement } from "effect/sql"
import { currentOrganization } from "../../platform/access/Actor.ts"
import { lookupSql } from "../../platform/database/DatabaseRepo.ts"
import type { EntityId } from "../../platform/ids/Id.ts"
import { decoding } from "../../platform/records/Rows.ts"
import { fieldValues } from "../CatalogTables.ts"
import { snapshotFunction } from "../revisions/RevisionRepo.ts"
import type { FieldDefinition, FieldsByName } from "./FieldDefinition.ts"
import { definitions } from "./FieldDefinitionRepo.ts"

export interface FieldWrite {
  readonly definitions: ReadonlyArray<FieldDefinition>
  readonly before: FieldsByName
  readonly after: FieldsByName
}

export class EntityFieldRepo extends Context.Service<EntityFieldRepo>()("stoa/domain/catalog/fields/EntityFieldRepo", {
  make: Effect.map(Effect.all([SqlClient.SqlClient, lookupSql]), ([sql, lookup]) => make(sql, lookup))
}) {
  static readonly layer = Layer.effect(EntityFieldRepo, EntityFieldRepo.make)
}

const written = fieldValues.insertion({
  organizationId: "e.organization_id",
  entityId: "e.id",
  definitionId: "(i->>'id')::uuid",
  value: "i->'value'",
  uniqueKey: "case when (i->>'isUnique')::boolean then i->>'value' end",
  referenceId: "case when (i->>'isReference')::boolean then (i->>'value')::uuid end"
})

export const fieldWrites = (sql: SqlClient.SqlClient, write: FieldWrite, entity: string): Statement.Fragment => {
  const rows = write.definitions.flatMap(({ id, isUnique, kind, name }) => {
    const value = Object.hasOwn(write.after, name) ? write.after[name] : undefined
    return value === undefined ? [] : [{ id, value, isUnique, isReference: kind === "reference" }]
  })
  const removed = write.definitions.filter(({ name }) => !Object.hasOwn(write.after, name)).map(({ id }) => id)
  const from = sql.literal(entity)
  return sql`fields_set as (
      insert into entity_field_values as f ${sql.literal(written)}
      from ${from} e, jsonb_array_elements(${JSON.stringify(rows)}::jsonb) i
      on conflict (entity_id, definition_id) do update set ${
    sql.literal(fieldValues.sets("excluded", ["value", "uniqueKey", "referenceId"]))
  }
        where f.value <> excluded.value
      returning 1),
    fields_removed as (delete from entity_field_values f using ${from} e
      where f.entity_id = e.id and f.organization_id = e.organization_id and f.definition_id = any(${removed}::uuid[])
      returning 1)`
}

export const fieldsByName = (entity: string) =>
  `(select coalesce(jsonb_object_agg(d.name, v.value), '{}') from entity_field_values v
    join entity_field_definitions d on d.id = v.definition_id and d.status = 'active' where v.entity_id = ${entity})`

const Values = Schema.Struct({ fields: Schema.Record(Schema.String, Schema.Unknown) })

const make = (sql: SqlClient.SqlClient, lookup: SqlClient.SqlClient) => {
  const hasFields = Effect.fn("EntityFieldRepo.hasFields")(function*(entityType: string) {
    const organization = yield* currentOrganization
    const rows = yield* lookup`select 1 from entity_field_schemas
      where organization_id = ${organization} and entity_type = ${entityType}`
    return rows.length > 0
  }, Effect.orDie)

  const lockEntity = Effect.fn("EntityFieldRepo.lockEntity")(function*(id: EntityId) {
    const organization = yield* currentOrganization
    const [entity] = yield* decoding(sql, Schema.Struct({ type: Schema.String }))`select type from catalog_entities
      where id = ${id}::uuid and organization_id = ${organization} for no key update`
    if (entity === undefined) return undefined
    // A separate statement: one that waited for the lock would not see what was written meanwhile.
    const [values] = yield* decoding(sql, Values)`select ${sql.literal(fieldsByName("e.id"))} as fields
      from catalog_entities e where e.id = ${id}::uuid and e.organization_id = ${organization}`
    return { type: entity.type, fields: values?.fields ?? {} }
  }, Effect.orDie)

  const definitionsOf = Effect.fn("EntityFieldRepo.definitionsOf")(
    function*(entityTypes: ReadonlyArray<string>, preparation: "prepared" | "unprepared" = "unprepared") {
      const organization = yield* currentOrganization
      const locked = sql`select 1 from entity_field_schemas where organization_id = ${organization}
        and entity_type = any(${entityTypes}::text[]) order by entity_type for share`
      yield* preparation === "prepared" ? locked : locked.unprepared
      const rows = yield* definitions.rows(sql, preparation)`select ${sql.literal(definitions.columns())}
        from entity_field_definitions
        where organization_id = ${organization} and entity_type = any(${entityTypes}::text[]) and status = 'active'
        order by entity_type, sort_order, name`
      return Map.groupBy(rows, ({ entityType }) => entityType)
    },
    Effect.orDie
  )

  const definitionsFor = (entityType: string) =>
    Effect.map(definitionsOf([entityType], "prepared"), (byType) => byType.get(entityType) ?? [])

  const typesOf = Effect.fn("EntityFieldRepo.typesOf")(function*(ids: ReadonlyArray<string>) {
    if (ids.length === 0) return new Map<string, string>()
    const organization = yield* currentOrganization
    const rows = yield* decoding(sql, Schema.Struct({ id: Schema.String, type: Schema.String }))`select id, type
      from catalog_entities where id = any(${ids}::uuid[]) and organization_id = ${organization}
      order by id for key share`
    return new Map(rows.map(({ id, type }) => [id, type]))
  }, Effect.orDie)

  return { hasFields, lockEntity, definitionsFor, definitionsOf, typesOf }
}

/**
 * Writers of values hold the row of their type `for share`, changes of a definition update it first: no value is
 * written by outdated rules.
 * Lock order: the entity, the row of its type, definitions, values. Changes of definitions lock no entity.
 */
const tables: ReadonlyArray<string> = [
  `create table entity_field_schemas (
    organization_id text not null,
    entity_type text not null,
    version bigint not null default 1,
    primary key (organization_id, entity_type)
  )`,
  `create table entity_field_definitions (
    id uuid primary key,
    organization_id text not null references organizations,
    entity_type text not null,
    name text not null,
    label text not null,
    kind text not null check (kind in ('text', 'number', 'boolean', 'date', 'enum', 'money', 'reference', 'json')),
    is_required boolean not null,
    is_unique boolean not null,
    is_filterable boolean not null,
    is_public boolean not null,
    rules jsonb not null,
    default_value jsonb,
    sort_order int not null default 0,
    status text not null default 'active' check (status in ('active', 'archived')),
    created_at timestamptz not null default now(),
    updated_at timestamptz not null default now(),
    unique (organization_id, entity_type, name)
  )`,
  `create table entity_field_values (
    organization_id text not null,
    entity_id uuid not null references catalog_entities on delete cascade,
    definition_id uuid not null references entity_field_definitions on delete cascade,
    value jsonb not null check (value <> 'null'),
    unique_key text,
    reference_id uuid references catalog_entities on delete cascade,
    primary key (entity_id, definition_id)
  )`,
  // Guards unique fields; other fields have no key.
  `create unique index entity_field_values_unique on entity_field_values (organization_id, definition_id, unique_key)
    where unique_key is not null`,
  `create index entity_field_values_definition on entity_field_values (definition_id, entity_id)`,
  `create index entity_field_values_reference on entity_field_values (reference_id) where reference_id is not null`
]

/** A class makes a key only where there is one: snapshots without it stay as they are. */
export const snapshotWithTaxClass = snapshotFunction(
  fieldsByName("e.id"),
  " || jsonb_strip_nulls(jsonb_build_object('taxClassId', e.tax_class_id))"
)

export const fieldTables: ReadonlyArray<string> = [...tables, snapshotFunction(fieldsByName("e.id"))]
