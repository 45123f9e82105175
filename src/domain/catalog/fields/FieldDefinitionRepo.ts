import { Context, Effect, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { type Actor, CurrentActor, currentOrganization } from "../../platform/access/Actor.ts"
import { conflict } from "../../platform/errors/ErrorKinds.ts"
import { isoTime } from "../../platform/events/ChangeLogRepo.ts"
import { EntityId, type FieldDefinitionId } from "../../platform/ids/Id.ts"
import { ownPage } from "../../platform/paging/OwnPageRepo.ts"
import type { PageRequest } from "../../platform/paging/Paging.ts"
import { refusedBy } from "../../platform/records/Constraints.ts"
import { decoding } from "../../platform/records/Rows.ts"
import { jsonOf, Table } from "../../platform/records/Table.ts"
import { changeEntry } from "../CatalogChangeRepo.ts"
import { fieldValues } from "../CatalogTables.ts"
import { FieldDefinition, FieldNotFound } from "./FieldDefinition.ts"

class FieldNameTaken extends conflict(
  "FieldNameTaken",
  "Entities of this type already have a custom field with this name; it may be archived."
) {}

class ValuesNotUnique extends conflict(
  "FieldValuesEqual",
  "Entities have the same value in this field, so it cannot become unique."
) {}

export type DefinitionChange = `entityFields.${"create" | "update" | "archive" | "restore"}`

export class FieldDefinitionRepo
  extends Context.Service<FieldDefinitionRepo>()("stoa/domain/catalog/fields/FieldDefinitionRepo", {
    make: Effect.map(SqlClient.SqlClient, (sql) => ({ ...makeDefinitions(sql), ...makeValues(sql) }))
  })
{
  static readonly layer = Layer.effect(FieldDefinitionRepo, FieldDefinitionRepo.make)
}

export const valuesPerPage = 1000

export const definitions = new Table("entity_field_definitions", FieldDefinition)

const { createdAt: _, ...recordedFields } = FieldDefinition.fields
const definitionJson = (row: string) => jsonOf(recordedFields, row, { updatedAt: isoTime(`${row}.updated_at`) })

const entry = (sql: SqlClient.SqlClient, actor: Actor, type: DefinitionChange, old?: string) =>
  changeEntry(sql, actor, { type, entityType: "entity_field", json: definitionJson, source: "written", old })

const makeDefinitions = (sql: SqlClient.SqlClient) => {
  const [columns, names] = [sql.literal(definitions.columns()), sql.literal(definitions.names)]

  const page = (entityType: string | undefined, includeArchived: boolean, request: PageRequest) =>
    Effect.orDie(ownPage(sql, definitions, "entity_type, sort_order, name", request, [
      sql`(status = 'active' or ${includeArchived}::boolean)`,
      ...entityType === undefined ? [] : [sql`entity_type = ${entityType}`]
    ]))

  const find = Effect.fn("FieldDefinitionRepo.find")(function*(id: FieldDefinitionId) {
    const organization = yield* currentOrganization
    const [found] = yield* definitions.rows(sql)`select ${columns} from entity_field_definitions
      where id = ${id}::uuid and organization_id = ${organization}`
    return found ?? (yield* new FieldNotFound())
  }, Effect.catchTag("SqlError", Effect.die))

  /** Waits for writers of values of the type and blocks new ones until the transaction ends. */
  const lockType = Effect.fn("FieldDefinitionRepo.lockType")(function*(entityType: string) {
    const organization = yield* currentOrganization
    yield* sql`insert into entity_field_schemas as s (organization_id, entity_type) values (${organization}, ${entityType})
      on conflict (organization_id, entity_type) do update set version = s.version + 1`
  }, Effect.orDie)

  const create = Effect.fn("FieldDefinitionRepo.create")(
    function*(definition: FieldDefinition) {
      const actor = yield* CurrentActor
      const { organizationId } = actor
      const rows = yield* definitions.rows(sql)`with written as (insert into entity_field_definitions (${names})
          ${definitions.values(sql, [{ ...definition, organizationId }])} returning *),
        entry as (${entry(sql, actor, "entityFields.create")})
        select ${columns} from written`
      return rows[0] as FieldDefinition
    },
    Effect.catchTag(
      "SqlError",
      refusedBy({ entity_field_definitions_organization_id_entity_type_name_key: () => new FieldNameTaken() })
    )
  )

  const write = Effect.fn("FieldDefinitionRepo.write")(
    function*(after: FieldDefinition, type: DefinitionChange) {
      const actor = yield* CurrentActor
      const rows = yield* definitions.rows(sql)`with old as materialized (select * from entity_field_definitions
          where id = ${after.id}::uuid and organization_id = ${actor.organizationId} for no key update),
        written as (update entity_field_definitions set (${names}) = (${definitions.values(sql, [after])})
          where id = (select id from old) and organization_id = ${actor.organizationId} returning *),
        entry as (${entry(sql, actor, type, "old")})
        select ${columns} from written`
      return rows[0] as FieldDefinition
    },
    Effect.orDie
  )

  return { page, find, lockType, create, write }
}

const Value = Schema.Struct({ entityId: EntityId, value: Schema.Unknown })

const makeValues = (sql: SqlClient.SqlClient) => {
  const lackingRows = (organization: string, { entityType, id }: FieldDefinition) =>
    sql`from catalog_entities e where e.organization_id = ${organization} and e.type = ${entityType}
      and not exists (select 1 from entity_field_values v where v.entity_id = e.id and v.definition_id = ${id}::uuid)`

  const lacking = Effect.fn("FieldDefinitionRepo.lacking")(function*(definition: FieldDefinition) {
    const rows = lackingRows(yield* currentOrganization, definition)
    const [row] = yield* decoding(sql, Schema.Struct({ n: Schema.Int }))`select count(*)::int4 as n ${rows}`
    return row?.n ?? 0
  }, Effect.orDie)

  const fill = Effect.fn("FieldDefinitionRepo.fill")(function*(definition: FieldDefinition) {
    const rows = lackingRows(yield* currentOrganization, definition)
    yield* sql`insert into entity_field_values ${
      fieldValues.insert(sql, {
        organizationId: "e.organization_id",
        entityId: "e.id",
        definitionId: sql`${definition.id}::uuid`,
        value: sql`${JSON.stringify(definition.defaultValue)}::jsonb`,
        uniqueKey: "null",
        referenceId: "null"
      })
    } ${rows} on conflict do nothing`
  }, Effect.orDie)

  const values = Effect.fn("FieldDefinitionRepo.values")(function*(id: FieldDefinitionId, after: string) {
    const organization = yield* currentOrganization
    return yield* decoding(sql, Value)`select entity_id as "entityId", value
      from entity_field_values where definition_id = ${id}::uuid and organization_id = ${organization}
        and entity_id > ${after}::uuid order by entity_id limit ${sql.literal(String(valuesPerPage))}`
  }, Effect.orDie)

  const setKeys = Effect.fn("FieldDefinitionRepo.setKeys")(
    function*({ id, isUnique, kind }: FieldDefinition) {
      const organization = yield* currentOrganization
      yield* sql`update entity_field_values
        set unique_key = case when ${isUnique}::boolean then value #>> '{}' end,
          reference_id = case when ${kind === "reference"}::boolean then (value #>> '{}')::uuid end
        where definition_id = ${id}::uuid and organization_id = ${organization}`
    },
    Effect.catchTag("SqlError", refusedBy({ entity_field_values_unique: () => new ValuesNotUnique() }))
  )

  return { lacking, fill, values, setKeys }
}
