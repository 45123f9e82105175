import { Context, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { type Actor, CurrentActor, currentOrganization } from "../../access/Actor.ts"
import { changeLogRows, isoTime } from "../../events/ChangeLogRepo.ts"
import { newId } from "../../ids/Id.ts"
import { ownPage } from "../../paging/OwnPageRepo.ts"
import type { PageRequest } from "../../paging/Paging.ts"
import { jsonOf } from "../../records/Columns.ts"
import { Table } from "../../records/Table.ts"
import { conflictOn } from "../UniqueRepo.ts"
import { FieldDefinition } from "./FieldDefinition.ts"

/** A definition without the fields that the database fills. */
export type DefinitionDraft = Omit<
  FieldDefinition,
  "id" | "organizationId" | "status" | "createdAt" | "updatedAt"
>

/** Event types of changes. */
export type DefinitionChange =
  | "entityFields.create"
  | "entityFields.update"
  | "entityFields.archive"
  | "entityFields.restore"

/** Definitions of custom fields and the values that their changes depend on. Writes need a transaction. */
export class FieldDefinitionRepo
  extends Context.Service<FieldDefinitionRepo>()("stoa/domain/catalog/fields/FieldDefinitionRepo", {
    make: Effect.map(SqlClient.SqlClient, (sql) => make(sql))
  })
{
  static readonly layer = Layer.effect(FieldDefinitionRepo, FieldDefinitionRepo.make)
}

/** Page size of `values`. */
export const valuesPerPage = 1000

/** Custom fields by type of entity. */
export const definitions = new Table("entity_field_definitions", FieldDefinition)

const { createdAt: _, ...recordedFields } = FieldDefinition.fields
const definitionJson = (row: string) => jsonOf(recordedFields, row, { updatedAt: isoTime(`${row}.updated_at`) })

const noted = (sql: SqlClient.SqlClient, actor: Actor, type: DefinitionChange, old?: string) =>
  changeLogRows(sql, actor, {
    type,
    entityType: "entity_field",
    entityId: "x.id::text",
    payload: definitionJson("x"),
    before: old === undefined ? undefined : definitionJson("o"),
    from: old === undefined ? "written x" : `written x join ${old} o on o.id = x.id`
  })

const nameTaken = conflictOn({
  entity_field_definitions_organization_id_entity_type_name_key:
    "Entities of this type already have a custom field with this name; it may be archived."
})

const notUnique = conflictOn({
  entity_field_values_unique: "Entities have the same value in this field, so it cannot become unique."
})

const asJson = (value: unknown) => value === null || value === undefined ? null : JSON.stringify(value)

const make = (sql: SqlClient.SqlClient) => {
  const page = (entityType: string | undefined, includeArchived: boolean, request: PageRequest) =>
    ownPage(
      sql,
      definitions,
      "entity_type, sort_order, name",
      request,
      [
        sql`(status = 'active' or ${includeArchived}::boolean)`,
        ...entityType === undefined ? [] : [sql`entity_type = ${entityType}`]
      ]
    ).pipe(Effect.orDie)

  const find = Effect.fn("FieldDefinitionRepo.find")(function*(id: string) {
    const organization = yield* currentOrganization
    const rows = yield* definitions.rows(sql)`select ${sql.literal(definitions.columns())} from entity_field_definitions
      where id = ${id}::uuid and organization_id = ${organization}`
    return rows[0]
  }, Effect.orDie)

  /** Waits for writers of values of the type and blocks new ones until the transaction ends. */
  const lockType = Effect.fn("FieldDefinitionRepo.lockType")(function*(entityType: string) {
    const organization = yield* currentOrganization
    yield* sql`insert into entity_field_schemas as s (organization_id, entity_type) values (${organization}, ${entityType})
      on conflict (organization_id, entity_type) do update set version = s.version + 1`
  }, Effect.orDie)

  const create = Effect.fn("FieldDefinitionRepo.create")(function*(draft: DefinitionDraft) {
    const actor = yield* CurrentActor
    const rows = yield* definitions.rows(sql)`with written as (
        insert into entity_field_definitions (id, organization_id, entity_type, name, label, kind, is_required,
          is_unique, is_filterable, is_public, rules, default_value, sort_order)
        values (${newId()}::uuid, ${actor.organizationId}, ${draft.entityType}, ${draft.name}, ${draft.label},
          ${draft.kind}, ${draft.isRequired}, ${draft.isUnique}, ${draft.isFilterable}, ${draft.isPublic},
          ${JSON.stringify(draft.rules)}::jsonb, ${asJson(draft.defaultValue)}::jsonb, ${draft.sortOrder}::int4)
        returning *),
      entry as (${noted(sql, actor, "entityFields.create")})
      select ${sql.literal(definitions.columns())} from written`.pipe(nameTaken)
    // A successful insert returns its row.
    return rows[0] as FieldDefinition
  })

  const write = Effect.fn("FieldDefinitionRepo.write")(
    function*({ id }: FieldDefinition, after: FieldDefinition, type: DefinitionChange) {
      const actor = yield* CurrentActor
      const rows = yield* definitions.rows(sql)`with old as materialized (select * from entity_field_definitions
          where id = ${id}::uuid and organization_id = ${actor.organizationId} for no key update),
        written as (update entity_field_definitions d set label = ${after.label}, kind = ${after.kind},
            is_required = ${after.isRequired}, is_unique = ${after.isUnique}, is_filterable = ${after.isFilterable},
            is_public = ${after.isPublic}, rules = ${JSON.stringify(after.rules)}::jsonb,
            default_value = ${asJson(after.defaultValue)}::jsonb, sort_order = ${after.sortOrder}::int4,
            status = ${after.status}, updated_at = now()
          from old where d.id = old.id and d.organization_id = ${actor.organizationId} returning d.*),
        entry as (${noted(sql, actor, type, "old")})
        select ${sql.literal(definitions.columns())} from written`
      // Definitions are never deleted, and this transaction has read this one.
      return rows[0] as FieldDefinition
    },
    Effect.orDie
  )

  return { page, find, lockType, create, write, ...makeValues(sql) }
}

const makeValues = (sql: SqlClient.SqlClient) => {
  const lackingRows = (organization: string, { entityType, id }: FieldDefinition) =>
    sql`from catalog_entities e where e.organization_id = ${organization} and e.type = ${entityType}
      and not exists (select 1 from entity_field_values v where v.entity_id = e.id and v.definition_id = ${id}::uuid)`

  /** The number of entities of the type that have no value of the field. */
  const lacking = Effect.fn("FieldDefinitionRepo.lacking")(function*(definition: FieldDefinition) {
    const organization = yield* currentOrganization
    const [row] = yield* sql<{ readonly n: number }>`select count(*)::int4 as n ${
      lackingRows(organization, definition)
    }`
    return row?.n ?? 0
  }, Effect.orDie)

  /** Gives those entities the default. */
  const fill = Effect.fn("FieldDefinitionRepo.fill")(function*(definition: FieldDefinition) {
    const organization = yield* currentOrganization
    yield* sql`insert into entity_field_values (organization_id, entity_id, definition_id, value)
      select e.organization_id, e.id, ${definition.id}::uuid, ${asJson(definition.defaultValue)}::jsonb
      ${lackingRows(organization, definition)} on conflict do nothing`
  }, Effect.orDie)

  /** A page of values in the order of their entities, after this entity. */
  const values = Effect.fn("FieldDefinitionRepo.values")(function*(id: string, after: string) {
    const organization = yield* currentOrganization
    const rows = yield* sql<{ readonly entity_id: string; readonly value: unknown }>`select entity_id, value
      from entity_field_values where definition_id = ${id}::uuid and organization_id = ${organization}
        and entity_id > ${after}::uuid order by entity_id limit ${sql.literal(String(valuesPerPage))}`
    return rows.map(({ entity_id, value }) => ({ entityId: entity_id, value }))
  }, Effect.orDie)

  /** Adds or removes the unique keys of the values; 409 when two values are the same. */
  const setKeys = Effect.fn("FieldDefinitionRepo.setKeys")(function*({ id, isUnique, kind }: FieldDefinition) {
    const organization = yield* currentOrganization
    yield* sql`update entity_field_values
      set unique_key = case when ${isUnique}::boolean then value #>> '{}' end,
        reference_id = case when ${kind === "reference"}::boolean then (value #>> '{}')::uuid end
      where definition_id = ${id}::uuid and organization_id = ${organization}`.pipe(notUnique)
  })

  return { lacking, fill, values, setKeys }
}
