import { Context, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { CurrentActor, currentOrganization } from "../../access/Actor.ts"
import { changeLogRows } from "../../events/ChangeLogRepo.ts"
import { newId } from "../../ids/Id.ts"
import { columnsOf, jsonOf } from "../../records/Columns.ts"
import { conflictOn } from "../UniqueRepo.ts"
import type { Axis } from "./CombinationRules.ts"
import { type NewOptionType, OptionType, OptionValue } from "./Option.ts"

/** Option types of entities and their values. */
export class OptionRepo extends Context.Service<OptionRepo>()("stoa/domain/catalog/variants/OptionRepo", {
  make: Effect.map(SqlClient.SqlClient, (sql) => make(sql))
}) {
  static readonly layer = Layer.effect(OptionRepo, OptionRepo.make)
}

const typeColumns = columnsOf(OptionType.fields)
const valueColumns = columnsOf(OptionValue.fields)

const valueJson = (row: string) => jsonOf(OptionValue.fields, row)

/** One event for an option type and its first values. */
const typeCreated = {
  type: "options.create",
  entityType: "option_type",
  entityId: "x.id::text",
  payload: `${jsonOf(OptionType.fields, "x")} || jsonb_build_object('values',
    coalesce((select jsonb_agg(${valueJson("v")} order by v.sort_order) from filled v), '[]'))`,
  from: "made x"
} as const

const valueCreated = {
  type: "options.createValue",
  entityType: "option_value",
  entityId: "x.id::text",
  payload: valueJson("x"),
  from: "made x"
} as const

const orConflict = conflictOn({
  option_types_entity_id_name_key: "This entity already has an option of this name.",
  option_values_option_type_id_value_key: "This option already has this value."
})

const make = (sql: SqlClient.SqlClient) => {
  /** The option types of an entity with their values, in their order; undefined when there is no such entity. */
  const axes = Effect.fn("OptionRepo.axes")(function*(entityId: string) {
    const organization = yield* currentOrganization
    const rows = yield* sql<{ readonly axes: ReadonlyArray<Axis> }>`select coalesce((
        select json_agg(json_build_object('name', t.name, 'values', (
          select coalesce(json_agg(json_build_object('id', v.id, 'value', v.value) order by v.sort_order, v.id), '[]')
          from option_values v where v.option_type_id = t.id)) order by t.sort_order, t.id)
        from option_types t where t.entity_id = e.id), '[]') as axes
      from catalog_entities e where e.id = ${entityId}::uuid and e.organization_id = ${organization}`
    return rows[0]?.axes
  }, Effect.orDie)

  /** The new type, last of the entity, with its first values; undefined when there is no such entity. */
  const createType = Effect.fn("OptionRepo.createType")(function*(entityId: string, input: NewOptionType) {
    const actor = yield* CurrentActor
    const values = JSON.stringify((input.values ?? []).map((value) => ({ id: newId(), value })))
    const rows = yield* sql<OptionType>`with made as (
        insert into option_types (id, organization_id, entity_id, name, display_name, sort_order)
        select ${newId()}::uuid, e.organization_id, e.id, ${input.name}, ${input.name},
          (select coalesce(max(sort_order) + 1, 0) from option_types where entity_id = e.id)
        from catalog_entities e where e.id = ${entityId}::uuid and e.organization_id = ${actor.organizationId}
        for key share of e returning *),
      filled as (
        insert into option_values (id, organization_id, option_type_id, value, display_value, sort_order)
        select (v->>'id')::uuid, made.organization_id, made.id, v->>'value', v->>'value', n - 1
        from made, jsonb_array_elements(${values}::jsonb) with ordinality as x(v, n)
        returning *),
      entry as (${changeLogRows(sql, actor, typeCreated)})
      select ${sql.literal(typeColumns)} from made`.pipe(orConflict)
    return rows[0]
  })

  /** The new value, last of its type; undefined when there is no such type. */
  const createValue = Effect.fn("OptionRepo.createValue")(function*(optionTypeId: string, value: string) {
    const actor = yield* CurrentActor
    const rows = yield* sql<OptionValue>`with made as (
        insert into option_values (id, organization_id, option_type_id, value, display_value, sort_order)
        select ${newId()}::uuid, t.organization_id, t.id, ${value}, ${value},
          (select coalesce(max(sort_order) + 1, 0) from option_values where option_type_id = t.id)
        from option_types t where t.id = ${optionTypeId}::uuid and t.organization_id = ${actor.organizationId}
        for key share of t returning *),
      entry as (${changeLogRows(sql, actor, valueCreated)})
      select ${sql.literal(valueColumns)} from made`.pipe(orConflict)
    return rows[0]
  })

  return { axes, createType, createValue }
}
