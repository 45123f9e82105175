import { Context, Effect, Layer } from "effect"
import { SqlClient, type Statement } from "effect/sql"
import { CurrentActor } from "../../access/Actor.ts"
import type { Conflict } from "../../errors/ApiErrors.ts"
import { journalRows } from "../../events/JournalRepo.ts"
import { newId } from "../../ids/Id.ts"
import { conflictOn } from "../UniqueRepo.ts"
import { type Combination, combinationKey } from "./CombinationRules.ts"
import type { NewVariant, Variant } from "./Variant.ts"

/** Variants of entities. One combination of an entity exists once, whoever makes it and however often. */
export class VariantRepo extends Context.Service<VariantRepo, {
  /** One variant, last of the entity; 409 when its sku or its combination exists. Undefined: no such entity any more. */
  readonly create: (
    entityId: string,
    combination: Combination,
    input: NewVariant
  ) => Effect.Effect<Variant | undefined, Conflict, CurrentActor>
  /**
   * Those of the combinations that did not exist, as variants in the order given; all in one statement. Undefined: no
   * such entity any more.
   */
  readonly createMissing: (
    entityId: string,
    combinations: ReadonlyArray<Combination>,
    mode: string
  ) => Effect.Effect<ReadonlyArray<Variant> | undefined, never, CurrentActor>
}>()("stoa/domain/catalog/variants/VariantRepo") {
  static readonly layer = Layer.effect(VariantRepo, Effect.map(SqlClient.SqlClient, (sql) => make(sql)))
}

interface VariantRow {
  readonly id: string
  readonly entity_id: string
  readonly organization_id: string
  readonly source_store_id: string | null
  readonly sku: string | null
  readonly barcode: string | null
  readonly tax_class: string | null
  readonly status: Variant["status"]
  readonly sort_order: number
  readonly metadata: Readonly<Record<string, unknown>>
  readonly combination: string
}

/** The entity is there, and all of its combinations were. */
interface NoVariantRow {
  readonly id: null
}

const toVariant = (row: VariantRow, optionValueIds: Combination): Variant => ({
  id: row.id,
  entityId: row.entity_id,
  organizationId: row.organization_id,
  sourceStoreId: row.source_store_id,
  sku: row.sku,
  barcode: row.barcode,
  taxClass: row.tax_class,
  status: row.status,
  sortOrder: row.sort_order,
  metadata: row.metadata,
  optionValueIds
})

const variantMade = {
  type: "variants.create",
  entityType: "variant",
  entityId: "x.id::text",
  from: "made x"
} as const

/** The variant of the row `x` as the API shows it. */
const madeOf = (sql: SqlClient.SqlClient, optionValueIds: Statement.Fragment) =>
  sql`jsonb_build_object('id', x.id, 'entityId', x.entity_id, 'organizationId', x.organization_id,
    'sourceStoreId', x.source_store_id, 'sku', x.sku, 'barcode', x.barcode, 'taxClass', x.tax_class,
    'status', x.status, 'sortOrder', x.sort_order, 'metadata', x.metadata, 'optionValueIds', ${optionValueIds})`

const taken = conflictOn({
  variants_organization_id_sku_key: "A variant with this sku already exists.",
  variants_entity_id_combination_key: "This entity already has a variant with these options."
})

const make = (sql: SqlClient.SqlClient): VariantRepo["Service"] => {
  const create = Effect.fn("VariantRepo.create")(
    function*(entityId: string, combination: Combination, input: NewVariant) {
      const actor = yield* CurrentActor
      const rows = yield* sql<VariantRow>`with made as (
          insert into variants (id, organization_id, entity_id, sku, barcode, tax_class, sort_order, combination)
          select ${newId()}::uuid, e.organization_id, e.id, ${input.sku}, ${input.barcode}, ${input.taxClass},
            (select coalesce(max(sort_order) + 1, 0) from variants where entity_id = e.id),
            ${combinationKey(combination)}
          from catalog_entities e where e.id = ${entityId}::uuid and e.organization_id = ${actor.organizationId}
          for no key update of e returning *),
        options as (insert into variant_option_values (organization_id, variant_id, option_value_id)
          select made.organization_id, made.id, v from made, unnest(${combination}::uuid[]) v),
        entry as (${
        journalRows(sql, actor, { ...variantMade, payload: madeOf(sql, sql`to_jsonb(${combination}::text[])`) })
      })
        select * from made`.pipe(taken)
      return rows[0] === undefined ? undefined : toVariant(rows[0], combination)
    }
  )

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
      // Rows go in sorted by their key: two calls that make the same combinations meet in the same order, so the second
      // one waits for the first and then skips what it made, instead of both waiting for each other.
      const rows = yield* sql<VariantRow | NoVariantRow>`with input as (
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
        journalRows(sql, actor, {
          ...variantMade,
          payload: madeOf(sql, sql`i.value_ids`),
          from: "made x join input i on i.id = x.id"
        })
      })
        select made.* from e left join made on true order by made.sort_order`
      return rows.length === 0
        ? undefined
        : rows.flatMap((row) => row.id === null ? [] : toVariant(row, byKey.get(row.combination) ?? []))
    },
    Effect.orDie
  )

  return { create, createMissing }
}
