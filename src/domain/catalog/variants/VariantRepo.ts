import { Context, Effect, Layer } from "effect"
import { SqlClient, type Statement } from "effect/sql"
import { CurrentActor } from "../../access/Actor.ts"
import { changeLogRows } from "../../events/ChangeLogRepo.ts"
import { newId } from "../../ids/Id.ts"
import { columnsOf, jsonOf } from "../../records/Columns.ts"
import { conflictOn } from "../UniqueRepo.ts"
import { type Combination, combinationKey } from "./CombinationRules.ts"
import { type NewVariant, Variant } from "./Variant.ts"

/** Variants of entities; an entity has each combination once. */
export class VariantRepo extends Context.Service<VariantRepo>()("stoa/domain/catalog/variants/VariantRepo", {
  make: Effect.map(SqlClient.SqlClient, (sql) => make(sql))
}) {
  static readonly layer = Layer.effect(VariantRepo, VariantRepo.make)
}

const { optionValueIds: _, ...storedFields } = Variant.fields
const columns = columnsOf(storedFields, "made")

type StoredVariant = Omit<Variant, "optionValueIds">

const variantCreated = {
  type: "variants.create",
  entityType: "variant",
  entityId: "x.id::text",
  from: "made x"
} as const

/** The variant in the row `x` as the API shows it. */
const variantJson = (sql: SqlClient.SqlClient, optionValueIds: Statement.Fragment) =>
  sql`${sql.literal(jsonOf(storedFields, "x"))} || jsonb_build_object('optionValueIds', ${optionValueIds})`

const orConflict = conflictOn({
  variants_organization_id_sku_key: "A variant with this sku already exists.",
  variants_entity_id_combination_key: "This entity already has a variant with these options."
})

/** A null id: the entity exists and has all of the combinations. */
interface MissingRow extends Omit<StoredVariant, "id"> {
  readonly id: string | null
  readonly combination: string
}

const make = (sql: SqlClient.SqlClient) => {
  /** Adds a variant as the last; 409 when its SKU or combination exists. Undefined when there is no such entity. */
  const create = Effect.fn("VariantRepo.create")(
    function*(entityId: string, combination: Combination, input: NewVariant) {
      const actor = yield* CurrentActor
      const rows = yield* sql<StoredVariant>`with made as (
          insert into variants (id, organization_id, entity_id, sku, barcode, tax_class, sort_order, combination)
          select ${newId()}::uuid, e.organization_id, e.id, ${input.sku}, ${input.barcode}, ${input.taxClass},
            (select coalesce(max(sort_order) + 1, 0) from variants where entity_id = e.id),
            ${combinationKey(combination)}
          from catalog_entities e where e.id = ${entityId}::uuid and e.organization_id = ${actor.organizationId}
          for no key update of e returning *),
        options as (insert into variant_option_values (organization_id, variant_id, option_value_id)
          select made.organization_id, made.id, v from made, unnest(${combination}::uuid[]) v),
        entry as (${
        changeLogRows(sql, actor, {
          ...variantCreated,
          payload: variantJson(sql, sql`to_jsonb(${combination}::text[])`)
        })
      })
        select ${sql.literal(columns)} from made`.pipe(orConflict)
      return rows[0] === undefined ? undefined : { ...rows[0], optionValueIds: combination }
    }
  )

  /** Creates the missing combinations in one statement, in the given order. Undefined when there is no such entity. */
  const createMissing = Effect.fn("VariantRepo.createMissing")(
    function*(entityId: string, combinations: ReadonlyArray<Combination>, mode: string) {
      const actor = yield* CurrentActor
      const organization = actor.organizationId
      const byKey = new Map(combinations.map((combination) => [combinationKey(combination), combination]))
      const input = [...byKey].map(([combination, valueIds], position) => ({
        id: newId(),
        combination,
        position,
        values: valueIds
      }))
      // Insert in key order: of two calls with the same combinations the second waits and skips, instead of a deadlock.
      const rows = yield* sql<MissingRow>`with input as (
          select (i->>'id')::uuid as id, i->>'combination' as combination, (i->>'position')::int as position,
            i->'values' as value_ids
          from jsonb_array_elements(${JSON.stringify(input)}::jsonb) i),
        e as (select id, organization_id from catalog_entities
          where id = ${entityId}::uuid and organization_id = ${organization} for no key update),
        made as (
          insert into variants (id, organization_id, entity_id, sort_order, metadata, combination)
          select i.id, e.organization_id, e.id,
            i.position + (select coalesce(max(sort_order) + 1, 0) from variants where entity_id = e.id),
            ${JSON.stringify({ generatedBy: mode })}::jsonb, i.combination
          from e, input i
          order by i.combination
          on conflict (entity_id, combination) do nothing returning *),
        options as (insert into variant_option_values (organization_id, variant_id, option_value_id)
          select made.organization_id, made.id, v::uuid from made join input i on i.id = made.id, jsonb_array_elements_text(i.value_ids) v),
        entry as (${
        changeLogRows(sql, actor, {
          ...variantCreated,
          payload: variantJson(sql, sql`i.value_ids`),
          from: "made x join input i on i.id = x.id"
        })
      })
        select ${sql.literal(columns)}, made.combination from e left join made on true order by made.sort_order`
      return rows.length === 0
        ? undefined
        : rows.flatMap(({ combination, id, ...row }) =>
          id === null ? [] : { ...row, id, optionValueIds: byKey.get(combination) ?? [] }
        )
    },
    Effect.orDie
  )

  return { create, createMissing }
}
