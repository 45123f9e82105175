import { snapshotFunction } from "../revisions/RevisionTablesRepo.ts"

/**
 * Definitions, and a row per type that has any. Writers of values hold that row `for share`, changes of a definition
 * update it first, so no value is written by outdated rules.
 *
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

/** The values of an entity by name, without archived fields: an SQL text over its id. */
export const fieldsByName = (entity: string) =>
  `(select coalesce(jsonb_object_agg(d.name, v.value), '{}') from entity_field_values v
    join entity_field_definitions d on d.id = v.definition_id and d.status = 'active' where v.entity_id = ${entity})`

/** The tables, and revision snapshots that include their values. */
export const fieldTables: ReadonlyArray<string> = [...tables, snapshotFunction(fieldsByName("e.id"))]
