import { Context, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { type Actor, CurrentActor, currentOrganization } from "../../access/Actor.ts"
import type { Conflict } from "../../errors/ApiErrors.ts"
import { isoTime, journalRows } from "../../events/JournalRepo.ts"
import { newId } from "../../ids/Id.ts"
import { ownPage } from "../../paging/OwnPageRepo.ts"
import type { PageOf, PageRequest } from "../../paging/Paging.ts"
import { conflictOn } from "../UniqueRepo.ts"
import type { FieldDefinition } from "./FieldDefinition.ts"
import { type FieldDefinitionRow, toDefinition } from "./FieldDefinitionRowsRepo.ts"

/** A definition before the database gives it the rest. */
export type DefinitionDraft = Omit<
  FieldDefinition,
  "id" | "organizationId" | "status" | "createdAt" | "updatedAt"
>

/** Names of changes in the journal. */
export type DefinitionChange =
  | "entityFields.create"
  | "entityFields.update"
  | "entityFields.archive"
  | "entityFields.restore"

/** Definitions of custom fields, and what their changes have to look at. All but reads belong into a transaction. */
export class FieldDefinitionRepo extends Context.Service<FieldDefinitionRepo, {
  readonly page: (
    entityType: string | undefined,
    includeArchived: boolean,
    page: PageRequest
  ) => Effect.Effect<PageOf<FieldDefinition>, never, CurrentActor>
  readonly find: (id: string) => Effect.Effect<FieldDefinition | undefined, never, CurrentActor>
  /** Waits for writers of values of the type, and makes later ones wait until the transaction ends. */
  readonly lockType: (entityType: string) => Effect.Effect<void, never, CurrentActor>
  readonly create: (draft: DefinitionDraft) => Effect.Effect<FieldDefinition, Conflict, CurrentActor>
  readonly write: (
    before: FieldDefinition,
    after: FieldDefinition,
    type: DefinitionChange
  ) => Effect.Effect<FieldDefinition, never, CurrentActor>
  /** How many entities of its type have no value of a field. */
  readonly lacking: (definition: FieldDefinition) => Effect.Effect<number, never, CurrentActor>
  /** Gives those the default. */
  readonly fill: (definition: FieldDefinition) => Effect.Effect<void, never, CurrentActor>
  /** Values in the order of their entities, after this one; a page of them. */
  readonly values: (
    id: string,
    after: string
  ) => Effect.Effect<ReadonlyArray<{ readonly entityId: string; readonly value: unknown }>, never, CurrentActor>
  /** Makes the values unique or not any more; 409 where two are the same. */
  readonly setKeys: (definition: FieldDefinition) => Effect.Effect<void, Conflict, CurrentActor>
}>()("stoa/domain/catalog/fields/FieldDefinitionRepo") {
  static readonly layer = Layer.effect(FieldDefinitionRepo, Effect.map(SqlClient.SqlClient, (sql) => make(sql)))
}

/** Values of one look. */
export const valuesPerLook = 1000

const definitionJson = (row: string) =>
  `jsonb_build_object('id', ${row}.id, 'organizationId', ${row}.organization_id, 'entityType', ${row}.entity_type,
    'name', ${row}.name, 'label', ${row}.label, 'kind', ${row}.kind, 'isRequired', ${row}.is_required,
    'isUnique', ${row}.is_unique, 'isFilterable', ${row}.is_filterable, 'isPublic', ${row}.is_public,
    'rules', ${row}.rules, 'defaultValue', ${row}.default_value, 'sortOrder', ${row}.sort_order,
    'status', ${row}.status, 'updatedAt', ${isoTime(`${row}.updated_at`)})`

const noted = (sql: SqlClient.SqlClient, actor: Actor, type: DefinitionChange, old?: string) =>
  journalRows(sql, actor, {
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

const make = (sql: SqlClient.SqlClient): FieldDefinitionRepo["Service"] => {
  const page: FieldDefinitionRepo["Service"]["page"] = (entityType, includeArchived, request) =>
    ownPage<FieldDefinitionRow, FieldDefinition>(
      sql,
      { table: "entity_field_definitions", order: "entity_type, sort_order, name", toRecord: toDefinition },
      request,
      [
        sql`(status = 'active' or ${includeArchived}::boolean)`,
        ...entityType === undefined ? [] : [sql`entity_type = ${entityType}`]
      ]
    ).pipe(Effect.orDie)

  const find = Effect.fn("FieldDefinitionRepo.find")(function*(id: string) {
    const organization = yield* currentOrganization
    const rows = yield* sql<FieldDefinitionRow>`select * from entity_field_definitions
      where id = ${id}::uuid and organization_id = ${organization}`
    return rows[0] === undefined ? undefined : toDefinition(rows[0])
  }, Effect.orDie)

  const lockType = Effect.fn("FieldDefinitionRepo.lockType")(function*(entityType: string) {
    const organization = yield* currentOrganization
    yield* sql`insert into entity_field_schemas as s (organization_id, entity_type) values (${organization}, ${entityType})
      on conflict (organization_id, entity_type) do update set version = s.version + 1`
  }, Effect.orDie)

  const create = Effect.fn("FieldDefinitionRepo.create")(function*(draft: DefinitionDraft) {
    const actor = yield* CurrentActor
    const rows = yield* sql<FieldDefinitionRow>`with written as (
        insert into entity_field_definitions (id, organization_id, entity_type, name, label, kind, is_required,
          is_unique, is_filterable, is_public, rules, default_value, sort_order)
        values (${newId()}::uuid, ${actor.organizationId}, ${draft.entityType}, ${draft.name}, ${draft.label},
          ${draft.kind}, ${draft.isRequired}, ${draft.isUnique}, ${draft.isFilterable}, ${draft.isPublic},
          ${JSON.stringify(draft.rules)}::jsonb, ${asJson(draft.defaultValue)}::jsonb, ${draft.sortOrder}::int4)
        returning *),
      entry as (${noted(sql, actor, "entityFields.create")})
      select * from written`.pipe(nameTaken)
    // An insert that did not fail returned its row.
    return toDefinition(rows[0] as FieldDefinitionRow)
  })

  const write = Effect.fn("FieldDefinitionRepo.write")(
    function*({ id }: FieldDefinition, after: FieldDefinition, type: DefinitionChange) {
      const actor = yield* CurrentActor
      const rows = yield* sql<FieldDefinitionRow>`with old as materialized (select * from entity_field_definitions
          where id = ${id}::uuid and organization_id = ${actor.organizationId} for no key update),
        written as (update entity_field_definitions d set label = ${after.label}, kind = ${after.kind},
            is_required = ${after.isRequired}, is_unique = ${after.isUnique}, is_filterable = ${after.isFilterable},
            is_public = ${after.isPublic}, rules = ${JSON.stringify(after.rules)}::jsonb,
            default_value = ${asJson(after.defaultValue)}::jsonb, sort_order = ${after.sortOrder}::int4,
            status = ${after.status}, updated_at = now()
          from old where d.id = old.id and d.organization_id = ${actor.organizationId} returning d.*),
        entry as (${noted(sql, actor, type, "old")})
        select * from written`
      // Definitions are never deleted, and this one was found in this transaction.
      return toDefinition(rows[0] as FieldDefinitionRow)
    },
    Effect.orDie
  )

  return { page, find, lockType, create, write, ...makeValues(sql) }
}

/** What is done with the values of a field. */
const makeValues = (sql: SqlClient.SqlClient) => {
  const lackingRows = (organization: string, { entityType, id }: FieldDefinition) =>
    sql`from catalog_entities e where e.organization_id = ${organization} and e.type = ${entityType}
      and not exists (select 1 from entity_field_values v where v.entity_id = e.id and v.definition_id = ${id}::uuid)`

  const lacking = Effect.fn("FieldDefinitionRepo.lacking")(function*(definition: FieldDefinition) {
    const organization = yield* currentOrganization
    const [row] = yield* sql<{ readonly n: number }>`select count(*)::int4 as n ${
      lackingRows(organization, definition)
    }`
    return row?.n ?? 0
  }, Effect.orDie)

  const fill = Effect.fn("FieldDefinitionRepo.fill")(function*(definition: FieldDefinition) {
    const organization = yield* currentOrganization
    yield* sql`insert into entity_field_values (organization_id, entity_id, definition_id, value)
      select e.organization_id, e.id, ${definition.id}::uuid, ${asJson(definition.defaultValue)}::jsonb
      ${lackingRows(organization, definition)} on conflict do nothing`
  }, Effect.orDie)

  const values = Effect.fn("FieldDefinitionRepo.values")(function*(id: string, after: string) {
    const organization = yield* currentOrganization
    const rows = yield* sql<{ readonly entity_id: string; readonly value: unknown }>`select entity_id, value
      from entity_field_values where definition_id = ${id}::uuid and organization_id = ${organization}
        and entity_id > ${after}::uuid order by entity_id limit ${sql.literal(String(valuesPerLook))}`
    return rows.map(({ entity_id, value }) => ({ entityId: entity_id, value }))
  }, Effect.orDie)

  const setKeys = Effect.fn("FieldDefinitionRepo.setKeys")(function*({ id, isUnique, kind }: FieldDefinition) {
    const organization = yield* currentOrganization
    yield* sql`update entity_field_values
      set unique_key = case when ${isUnique}::boolean then value #>> '{}' end,
        reference_id = case when ${kind === "reference"}::boolean then (value #>> '{}')::uuid end
      where definition_id = ${id}::uuid and organization_id = ${organization}`.pipe(notUnique)
  })

  return { lacking, fill, values, setKeys }
}
