import { Context, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { CurrentActor, currentOrganization } from "../../access/Actor.ts"
import type { Conflict } from "../../errors/ApiErrors.ts"
import { journalRows } from "../../events/JournalRepo.ts"
import { newId } from "../../ids/Id.ts"
import { conflictOn } from "../UniqueRepo.ts"
import type { Axis } from "./CombinationRules.ts"
import type { NewOptionType, OptionType, OptionValue } from "./Option.ts"

/** Option types of entities and their values. */
export class OptionRepo extends Context.Service<OptionRepo, {
  /** The option types of an entity with their values, in their order; undefined when there is no such entity. */
  readonly axes: (entityId: string) => Effect.Effect<ReadonlyArray<Axis> | undefined, never, CurrentActor>
  /** The new type, last of the entity, with its first values; undefined when there is no such entity. */
  readonly createType: (
    entityId: string,
    input: NewOptionType
  ) => Effect.Effect<OptionType | undefined, Conflict, CurrentActor>
  /** The new value, last of its type; undefined when there is no such type. */
  readonly createValue: (
    optionTypeId: string,
    value: string
  ) => Effect.Effect<OptionValue | undefined, Conflict, CurrentActor>
}>()("stoa/domain/catalog/variants/OptionRepo") {
  static readonly layer = Layer.effect(OptionRepo, Effect.map(SqlClient.SqlClient, (sql) => make(sql)))
}

interface TypeRow {
  readonly id: string
  readonly entity_id: string
  readonly name: string
  readonly display_name: string
  readonly sort_order: number
}

interface ValueRow {
  readonly id: string
  readonly option_type_id: string
  readonly value: string
  readonly display_value: string
  readonly sort_order: number
  readonly metadata: Readonly<Record<string, unknown>>
}

const toType = (row: TypeRow): OptionType => ({
  id: row.id,
  entityId: row.entity_id,
  name: row.name,
  displayName: row.display_name,
  sortOrder: row.sort_order
})

const toValue = (row: ValueRow): OptionValue => ({
  id: row.id,
  optionTypeId: row.option_type_id,
  value: row.value,
  displayValue: row.display_value,
  sortOrder: row.sort_order,
  metadata: row.metadata
})

const valueJson = (row: string) =>
  `jsonb_build_object('id', ${row}.id, 'optionTypeId', ${row}.option_type_id, 'value', ${row}.value,
    'displayValue', ${row}.display_value, 'sortOrder', ${row}.sort_order, 'metadata', ${row}.metadata)`

/** A new option is one record with the values it starts with. */
const typeMade = {
  type: "options.create",
  entityType: "option_type",
  entityId: "x.id::text",
  payload: `jsonb_build_object('id', x.id, 'entityId', x.entity_id, 'name', x.name, 'displayName', x.display_name,
    'sortOrder', x.sort_order, 'values',
    coalesce((select jsonb_agg(${valueJson("v")} order by v.sort_order) from filled v), '[]'))`,
  from: "made x"
} as const

const valueMade = {
  type: "options.createValue",
  entityType: "option_value",
  entityId: "x.id::text",
  payload: valueJson("x"),
  from: "made x"
} as const

const taken = conflictOn({
  option_types_entity_id_name_key: "This entity already has an option of this name.",
  option_values_option_type_id_value_key: "This option already has this value."
})

const make = (sql: SqlClient.SqlClient): OptionRepo["Service"] => {
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

  const createType = Effect.fn("OptionRepo.createType")(function*(entityId: string, input: NewOptionType) {
    const actor = yield* CurrentActor
    const values = JSON.stringify((input.values ?? []).map((value) => ({ id: newId(), value })))
    const rows = yield* sql<TypeRow>`with made as (
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
      entry as (${journalRows(sql, actor, typeMade)})
      select * from made`.pipe(taken)
    return rows[0] === undefined ? undefined : toType(rows[0])
  })

  const createValue = Effect.fn("OptionRepo.createValue")(function*(optionTypeId: string, value: string) {
    const actor = yield* CurrentActor
    const rows = yield* sql<ValueRow>`with made as (
        insert into option_values (id, organization_id, option_type_id, value, display_value, sort_order)
        select ${newId()}::uuid, t.organization_id, t.id, ${value}, ${value},
          (select coalesce(max(sort_order) + 1, 0) from option_values where option_type_id = t.id)
        from option_types t where t.id = ${optionTypeId}::uuid and t.organization_id = ${actor.organizationId}
        for key share of t returning *),
      entry as (${journalRows(sql, actor, valueMade)})
      select * from made`.pipe(taken)
    return rows[0] === undefined ? undefined : toValue(rows[0])
  })

  return { axes, createType, createValue }
}
