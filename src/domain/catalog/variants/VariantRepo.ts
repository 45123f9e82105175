import { Context, Effect, Layer, Schema, Struct } from "effect"
import { SqlClient, type Statement } from "effect/sql"
import { CurrentActor, currentOrganization } from "../../platform/access/Actor.ts"
import { conflict } from "../../platform/errors/ErrorKinds.ts"
import { changeLogRows } from "../../platform/events/ChangeLogRepo.ts"
import { type EntityId, newId, type OptionTypeId } from "../../platform/ids/Id.ts"
import { refusedBy } from "../../platform/records/Constraints.ts"
import { decoding } from "../../platform/records/Rows.ts"
import { jsonOf, Table } from "../../platform/records/Table.ts"
import { type CatalogDefaults, CatalogSettings } from "../CatalogSettings.ts"
import { storedOptionTypes, storedOptionValues, variantOptions, variants } from "../CatalogTables.ts"
import { EntityNotFound, namedTaxClass, taxClassRefusals } from "../Entity.ts"
import {
  Axis,
  type Combination,
  combinationKey,
  type NewOptionType,
  type NewVariant,
  OptionType,
  OptionTypeNotFound,
  OptionValue,
  Variant
} from "./Variant.ts"

class OptionNameTaken extends conflict("OptionNameTaken", "This entity already has an option of this name.") {}
class OptionValueTaken extends conflict("OptionValueTaken", "This option already has this value.") {}
class SkuTaken extends conflict("SkuTaken", "Another variant has this SKU. Send another sku.") {}
class CombinationTaken extends conflict("VariantExists", "This entity already has a variant with these options.") {}

const refusals = {
  option_types_entity_id_name_key: () => new OptionNameTaken(),
  option_values_option_type_id_value_key: () => new OptionValueTaken(),
  variants_unique_sku: () => new SkuTaken(),
  variants_entity_id_combination_key: () => new CombinationTaken()
}
const orTaken = refusedBy(refusals)
const orRefused = (input: NewVariant) => refusedBy({ ...refusals, ...taxClassRefusals(input) })

const firstValues = storedOptionValues.insertion({
  id: "(v->>'id')::uuid",
  organizationId: "made.organization_id",
  optionTypeId: "made.id",
  value: "v->>'value'",
  displayValue: "v->>'value'",
  sortOrder: "n - 1"
})

const chosenOptions = variantOptions.insertion({
  organizationId: "made.organization_id",
  variantId: "made.id",
  optionValueId: "v::uuid"
})

export const optionTypes = new Table("option_types", OptionType)
export const optionValues = new Table("option_values", OptionValue)

export class VariantRepo extends Context.Service<VariantRepo>()("stoa/domain/catalog/variants/VariantRepo", {
  make: Effect.map(
    Effect.all([SqlClient.SqlClient, CatalogSettings]),
    ([sql, settings]) => ({
      ...makeOptions(sql),
      create: makeCreate(sql, settings),
      createMissing: makeCreateMissing(sql)
    })
  )
}) {
  static readonly layer = Layer.effect(VariantRepo, VariantRepo.make)
}

const typeCreated = {
  type: "options.create",
  entityType: "option_type",
  entityId: "x.id::text",
  payload: `${optionTypes.json("x")} || jsonb_build_object('values',
    coalesce((select jsonb_agg(${optionValues.json("v")} order by v.sort_order) from filled v), '[]'))`,
  from: "made x"
} as const

const valueCreated = {
  type: "options.createValue",
  entityType: "option_value",
  entityId: "x.id::text",
  payload: optionValues.json("x"),
  from: "made x"
} as const

const makeOptions = (sql: SqlClient.SqlClient) => {
  const axes = Effect.fn("VariantRepo.axes")(function*(entityId: EntityId) {
    const organization = yield* currentOrganization
    const rows = yield* decoding(sql, Schema.Struct({ axes: Schema.Array(Axis) }))`select coalesce((
        select json_agg(json_build_object('name', t.name, 'values', (
          select coalesce(json_agg(json_build_object('id', v.id, 'value', v.value) order by v.sort_order, v.id), '[]')
          from option_values v where v.option_type_id = t.id)) order by t.sort_order, t.id)
        from option_types t where t.entity_id = e.id), '[]') as axes
      from catalog_entities e where e.id = ${entityId}::uuid and e.organization_id = ${organization}`
    return rows[0]?.axes ?? (yield* new EntityNotFound())
  }, Effect.catchTag("SqlError", Effect.die))

  const createOptionType = Effect.fn("VariantRepo.createOptionType")(
    function*(entityId: EntityId, input: NewOptionType) {
      const actor = yield* CurrentActor
      const values = JSON.stringify((input.values ?? []).map((value) => ({ id: newId(), value })))
      const rows = yield* optionTypes.rows(sql)`with made as (
          insert into option_types ${
        storedOptionTypes.insert(sql, {
          id: sql`${newId()}::uuid`,
          organizationId: "e.organization_id",
          entityId: "e.id",
          name: sql`${input.name}`,
          displayName: sql`${input.name}`,
          sortOrder: "(select coalesce(max(sort_order) + 1, 0) from option_types where entity_id = e.id)"
        })
      } from catalog_entities e where e.id = ${entityId}::uuid and e.organization_id = ${actor.organizationId}
          for key share of e returning *),
        filled as (
          insert into option_values ${sql.literal(firstValues)}
          from made, jsonb_array_elements(${values}::jsonb) with ordinality as x(v, n)
          returning *),
        entry as (${changeLogRows(sql, actor, typeCreated)})
        select ${sql.literal(optionTypes.columns())} from made`
      return rows[0] ?? (yield* new EntityNotFound())
    },
    Effect.catchTag("SqlError", orTaken)
  )

  const createOptionValue = Effect.fn("VariantRepo.createOptionValue")(
    function*(optionTypeId: OptionTypeId, value: string) {
      const actor = yield* CurrentActor
      const rows = yield* optionValues.rows(sql)`with made as (
          insert into option_values ${
        storedOptionValues.insert(sql, {
          id: sql`${newId()}::uuid`,
          organizationId: "t.organization_id",
          optionTypeId: "t.id",
          value: sql`${value}`,
          displayValue: sql`${value}`,
          sortOrder: "(select coalesce(max(sort_order) + 1, 0) from option_values where option_type_id = t.id)"
        })
      } from option_types t where t.id = ${optionTypeId}::uuid and t.organization_id = ${actor.organizationId}
          for key share of t returning *),
        entry as (${changeLogRows(sql, actor, valueCreated)})
        select ${sql.literal(optionValues.columns())} from made`
      return rows[0] ?? (yield* new OptionTypeNotFound())
    },
    Effect.catchTag("SqlError", orTaken)
  )

  return { axes, createOptionType, createOptionValue }
}

const variantCreated = { type: "variants.create", entityType: "variant", entityId: "x.id::text" } as const

const variantJson = (sql: SqlClient.SqlClient, optionValueIds: Statement.Fragment) =>
  sql`${sql.literal(jsonOf(Struct.omit(Variant.fields, ["optionValueIds"]), "x"))}
    || jsonb_build_object('optionValueIds', ${optionValueIds})`

const ofEntity = { organizationId: "e.organization_id", entityId: "e.id" }

/** Other variants with the SKU of a variant `x`, as they were before the statement, by the slugs of their entities. */
const sharing = `(select coalesce(json_agg(e.slug order by e.slug, v.id), '[]') from variants v
  join catalog_entities e on e.id = v.entity_id and e.organization_id = v.organization_id
  where v.organization_id = x.organization_id and v.sku = x.sku and v.id <> x.id)`

const MadeVariant = Schema.Struct({ variant: Variant, sharedWith: Schema.Array(Schema.String) })

const makeCreate = (sql: SqlClient.SqlClient, { uniqueSkus }: Pick<CatalogDefaults, "uniqueSkus">) =>
  Effect.fn("VariantRepo.create")(
    function*(entityId: EntityId, combination: Combination, input: NewVariant) {
      const actor = yield* CurrentActor
      const payload = variantJson(sql, sql`to_jsonb(${combination}::text[])`)
      const claimed = uniqueSkus ? input.sku ?? null : null
      const rows = yield* decoding(sql, MadeVariant)`with made as (
          insert into variants ${
        variants.insert(sql, {
          id: sql`${newId()}::uuid`,
          ...ofEntity,
          sku: sql`${input.sku}`,
          uniqueSku: sql`${claimed}`,
          barcode: sql`${input.barcode}`,
          taxClassId: sql`tax_class_named(e.organization_id, ${namedTaxClass(input)})`,
          manageInventory: sql`${input.manageInventory}::boolean`,
          allowBackorder: sql`${input.allowBackorder}::boolean`,
          backorderLimit: sql`${input.backorderLimit}::int4`,
          sortOrder: "(select coalesce(max(sort_order) + 1, 0) from variants where entity_id = e.id)",
          combination: sql`${combinationKey(combination)}`
        })
      } from catalog_entities e where e.id = ${entityId}::uuid and e.organization_id = ${actor.organizationId}
          and not exists (select 1 from variants v
            where v.organization_id = ${actor.organizationId} and v.sku = ${claimed}::text)
          for no key update of e returning *),
        options as (insert into variant_option_values ${sql.literal(chosenOptions)}
          from made, unnest(${combination}::uuid[]) v),
        entry as (${changeLogRows(sql, actor, { ...variantCreated, payload, from: "made x" })})
        select ${payload} as variant, ${sql.literal(sharing)} as "sharedWith" from made x`
      // The entity was read before.
      return rows[0] ?? (yield* claimed === null ? new EntityNotFound() : new SkuTaken())
    },
    (effect, _entity, _combination, input) => Effect.catchTag(effect, "SqlError", orRefused(input))
  )

const makeCreateMissing = (sql: SqlClient.SqlClient) =>
  Effect.fn("VariantRepo.createMissing")(
    function*(entityId: EntityId, combinations: ReadonlyArray<Combination>, mode: string) {
      const actor = yield* CurrentActor
      const byKey = new Map(combinations.map((combination) => [combinationKey(combination), combination]))
      const input = Array.from(byKey, ([combination, values], position) => ({
        id: newId(),
        combination,
        position,
        values
      }))
      const payload = variantJson(sql, sql`i.value_ids`)
      // Insert in key order: of two calls with the same combinations the second waits and skips, instead of a deadlock.
      const rows = yield* decoding(sql, Schema.Struct({ variant: Schema.NullOr(Variant) }))`with input as (
          select (i->>'id')::uuid as id, i->>'combination' as combination, (i->>'position')::int as position,
            i->'values' as value_ids
          from jsonb_array_elements(${JSON.stringify(input)}::jsonb) i),
        e as (select id, organization_id from catalog_entities
          where id = ${entityId}::uuid and organization_id = ${actor.organizationId} for no key update),
        made as (
          insert into variants ${
        variants.insert(sql, {
          id: "i.id",
          ...ofEntity,
          sortOrder: "i.position + (select coalesce(max(sort_order) + 1, 0) from variants where entity_id = e.id)",
          metadata: sql`${JSON.stringify({ generatedBy: mode })}::jsonb`,
          combination: "i.combination"
        })
      } from e, input i
          order by i.combination
          on conflict (entity_id, combination) do nothing returning *),
        options as (insert into variant_option_values ${sql.literal(chosenOptions)}
          from made join input i on i.id = made.id, jsonb_array_elements_text(i.value_ids) v),
        entry as (${
        changeLogRows(sql, actor, { ...variantCreated, payload, from: "made x join input i on i.id = x.id" })
      })
        select case when x.id is not null then ${payload} end as variant
        from e left join (made x join input i on i.id = x.id) on true order by x.sort_order`
      // One row without a variant: the entity exists and has all of the combinations.
      if (rows.length === 0) return yield* new EntityNotFound()
      return rows.flatMap(({ variant }) => variant ?? [])
    },
    Effect.catchTag("SqlError", Effect.die)
  )
