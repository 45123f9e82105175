import { Effect, Schema, Struct } from "effect"
import { SqlClient } from "effect/sql"
import { brands } from "../../catalog/brands/BrandRepo.ts"
import { categories, treeLock } from "../../catalog/categories/CategoryRepo.ts"
import { Attributes, CatalogEntity } from "../../catalog/Entity.ts"
import { EntityFieldRepo } from "../../catalog/fields/EntityFieldRepo.ts"
import type { FieldDefinition, FieldsByName } from "../../catalog/fields/FieldDefinition.ts"
import { OptionType, OptionValue, Variant } from "../../catalog/variants/Variant.ts"
import { AttachedMedium } from "../../media/MediaAsset.ts"
import { currentOrganization } from "../../platform/access/Actor.ts"
import { linkTable, RowTable } from "../../platform/batching/RowBatch.ts"
import { RowBatchRepo } from "../../platform/batching/RowBatchRepo.ts"
import {
  BrandId,
  CategoryId,
  EntityId,
  FieldDefinitionId,
  OptionValueId,
  TaxClassId,
  Uuid,
  VariantId
} from "../../platform/ids/Id.ts"
import { decoding } from "../../platform/records/Rows.ts"
import { Table } from "../../platform/records/Table.ts"
import type { NamedProduct } from "./ProductRecord.ts"

const StoredTexts = Schema.Struct(Struct.omit(Attributes.fields, ["status"]))
export type StoredTexts = typeof StoredTexts.Type

const StoredVariant = Schema.Struct({
  ...Struct.omit(Variant.fields, ["organizationId", "optionValueIds"]),
  combination: Schema.String,
  uniqueSku: Schema.NullOr(Schema.String)
})
export type StoredVariant = typeof StoredVariant.Type

const StoredOption = Schema.Struct({ ...OptionType.fields, values: Schema.Array(OptionValue) })
export type StoredOption = typeof StoredOption.Type

const Named = Schema.Struct({ id: Uuid, slug: Schema.String })
export type Named = typeof Named.Type

/** A variant that has a SKU, with the slug of its entity. */
const SkuOwner = Schema.Struct({ sku: Schema.String, id: VariantId, slug: Schema.String })
export type SkuOwner = typeof SkuOwner.Type

const Id = Schema.Struct({ id: Uuid })

const ClassNamed = Schema.Struct({ reference: Schema.String, id: TaxClassId, slug: Schema.String })

export const productTables = {
  entities: new Table("catalog_entities", CatalogEntity),
  attributes: new Table("entity_attributes", StoredTexts),
  categories: linkTable(
    "entity_categories",
    "entity_id, category_id",
    Schema.Struct({ entityId: EntityId, categoryId: CategoryId, sortOrder: Schema.Int })
  ),
  brands: linkTable(
    "entity_brands",
    "entity_id, brand_id",
    Schema.Struct({ entityId: EntityId, brandId: BrandId, sortOrder: Schema.Int })
  ),
  options: new Table("option_types", OptionType),
  optionValues: new Table("option_values", OptionValue),
  variants: new Table("variants", StoredVariant),
  variantValues: linkTable(
    "variant_option_values",
    "variant_id, option_value_id",
    Schema.Struct({ variantId: VariantId, optionValueId: OptionValueId })
  ),
  fields: new RowTable(
    "entity_field_values",
    Schema.Struct({
      entityId: EntityId,
      definitionId: FieldDefinitionId,
      value: Schema.Unknown,
      uniqueKey: Schema.NullOr(Schema.String),
      referenceId: Schema.Unknown
    }),
    {
      key: "entity_id, definition_id",
      expressions: { unique_key: "case when x.unique_key is not null then x.value #>> '{}' end" }
    }
  ),
  media: new RowTable("entity_media", Schema.Struct({ ...AttachedMedium.fields, attachedAt: Schema.String }), {
    key: "entity_id, variant_id, media_asset_id",
    nullable: "variant_id",
    updates: "role = excluded.role, sort_order = excluded.sort_order"
  })
}

const StoredProduct = Schema.Struct({
  entity: CatalogEntity,
  attributes: Schema.Array(StoredTexts),
  categories: Schema.Array(Named),
  brands: Schema.Array(Named),
  options: Schema.Array(StoredOption),
  variants: Schema.Array(StoredVariant),
  fields: Schema.Array(Schema.Struct({ definitionId: FieldDefinitionId, name: Schema.String, value: Schema.Unknown })),
  media: Schema.Array(AttachedMedium)
})
export type StoredProduct = typeof StoredProduct.Type

const part = (name: keyof StoredProduct, json: string, from: string) =>
  `(select coalesce(jsonb_agg(${json}), '[]') from ${from}
    where x.entity_id = e.id and x.organization_id = e.organization_id) as ${name}`

const rowsOf = (name: "attributes" | "variants" | "media") =>
  part(name, productTables[name].json("x"), `${productTables[name].name} x`)

const group = (of: string) => `jsonb_build_object('id', ${of}.id, 'slug', ${of}.slug)`

const storedProduct = [
  `${productTables.entities.json("e")} as entity`,
  rowsOf("attributes"),
  rowsOf("variants"),
  rowsOf("media"),
  part("categories", group("c"), "entity_categories x join categories c on c.id = x.category_id"),
  part("brands", group("b"), "entity_brands x join brands b on b.id = x.brand_id"),
  part(
    "options",
    `${productTables.options.json("x")} || jsonb_build_object('values',
      (select coalesce(jsonb_agg(${productTables.optionValues.json("v")}), '[]') from option_values v
        where v.option_type_id = x.id and v.organization_id = x.organization_id))`,
    "option_types x"
  ),
  part(
    "fields",
    "jsonb_build_object('definitionId', d.id, 'name', d.name, 'value', x.value)",
    `entity_field_values x join entity_field_definitions d on d.id = x.definition_id and d.status = 'active'
      and d.entity_type = e.type`
  )
].join(", ")

const groupsOf = (records: ReadonlyArray<NamedProduct>, group: "categories" | "brands") =>
  records.flatMap((record) => [...record[group] ?? [], ...record.named?.[group].keys() ?? []])

export const productReads = Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  const rows = yield* RowBatchRepo

  const ids = (name: string, slugs: ReadonlyArray<string>) =>
    Effect.map(
      rows.find(new Table(name, Named), "slug", slugs, "key share"),
      (found) => new Map(found.map(({ id, slug }) => [slug, id]))
    )

  return Effect.fn("CatalogImportRepo.products")(function*(records: ReadonlyArray<NamedProduct>) {
    const organization = yield* currentOrganization
    const slugs = records.map(({ slug }) => slug)
    const media = records.flatMap((record) => record.media ?? [])
    const skus = [...media, ...records.flatMap(({ variants = [] }) => variants)].flatMap(({ sku }) => sku ?? [])
    // Lock first, then read: a statement does not see what others committed while it waited. In the order of ids: two
    // batches cannot deadlock.
    yield* rows.find(new Table("catalog_entities", Id), "slug", slugs, "no key update")
    const stored = yield* decoding(sql, StoredProduct, "unprepared")`select ${sql.literal(storedProduct)}
      from catalog_entities e where e.organization_id = ${organization} and e.slug = any(${slugs}::text[])`
    const named = {
      categories: yield* ids(categories.name, groupsOf(records, "categories")),
      brands: yield* ids(brands.name, groupsOf(records, "brands"))
    }
    const owners = skus.length === 0
      ? []
      : yield* decoding(sql, SkuOwner, "unprepared")`select sku, id, coalesce((select slug from catalog_entities e
            where e.id = v.entity_id and e.organization_id = v.organization_id), '') as slug
        from variants v where organization_id = ${organization} and sku = any(${skus}::text[])`
    const taxed = [...records, ...records.flatMap(({ variants = [] }) => variants)]
    const classes = [...new Set(taxed.flatMap(({ taxClass }) => taxClass ?? []))]
    const taxClasses = classes.length === 0
      ? []
      : yield* decoding(sql, ClassNamed, "unprepared")`select distinct on (reference) reference, c.id, c.slug
          from unnest(${classes}::text[]) reference join tax_classes_read c on c.organization_id = ${organization}
            and (c.id::text = lower(reference) or c.slug = lower(reference) or c.name = reference)
          order by reference, c.id::text = lower(reference) desc, c.slug = lower(reference) desc`
    const assets = yield* rows.find(new Table("media_assets", Id), "id", media.map(({ id }) => id), "key share")
    return {
      products: new Map(stored.map((product) => [product.entity.slug, product])),
      ...named,
      taxClasses: new Map(taxClasses.map((one) => [one.reference, one])),
      skus: Map.groupBy(owners, ({ sku }) => sku),
      assets: new Set(assets.map(({ id }) => id))
    }
  }, Effect.orDie)
})

export type ProductState = Effect.Success<ReturnType<Effect.Success<typeof productReads>>>

interface FieldsOfRecord {
  readonly type: string
  readonly fields: FieldsByName
}

export const uniqueKey = (definitionId: FieldDefinitionId, value: unknown): string =>
  `${definitionId} ${JSON.stringify(value)}`

const sentFor = (
  records: ReadonlyArray<FieldsOfRecord>,
  definitions: ReadonlyMap<string, ReadonlyArray<FieldDefinition>>,
  picked: (definition: FieldDefinition) => boolean
) =>
  records.flatMap(({ fields, type }) =>
    (definitions.get(type) ?? []).filter(picked).flatMap((definition) => {
      const value = Object.hasOwn(fields, definition.name) ? fields[definition.name] : null
      return value === null || value === undefined ? [] : [{ definition, value }]
    })
  )

const Referable = Schema.Struct(Struct.pick(CatalogEntity.fields, ["id", "type", "slug"]))
export type Referable = typeof Referable.Type

/** Reads and locks definitions and referenced entities; call it after `productReads`, to keep the lock order. */
export const fieldReads = Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  const rows = yield* RowBatchRepo
  const fields = yield* EntityFieldRepo

  const ownersOf = Effect.fnUntraced(function*(keys: ReadonlyArray<{ readonly id: string; readonly value: unknown }>) {
    if (keys.length === 0) return []
    const row = Schema.Struct({ id: FieldDefinitionId, value: Schema.Unknown, entityId: EntityId })
    return yield* decoding(sql, row, "unprepared")`select f.definition_id as id, f.value, f.entity_id as "entityId"
      from jsonb_to_recordset(${JSON.stringify(keys)}::jsonb) as x(id uuid, value jsonb)
        join entity_field_values f on f.definition_id = x.id and f.unique_key = x.value #>> '{}'
      where f.organization_id = ${yield* currentOrganization}`
  })

  return Effect.fn("CatalogImportRepo.fields")(function*(records: ReadonlyArray<FieldsOfRecord>) {
    const definitions = yield* fields.definitionsOf([...new Set(records.map(({ type }) => type))])
    const slugs = sentFor(records, definitions, ({ kind }) => kind === "reference")
      .map(({ value }) => value).filter((slug) => typeof slug === "string")
    const found = yield* rows.find(new Table("catalog_entities", Referable), "slug", slugs, "key share")
    const referables = new Map<string, Referable>(found.map((one) => [one.slug, one]))
    const keys = sentFor(records, definitions, ({ isUnique }) => isUnique).flatMap(({ definition, value }) => {
      const key = definition.kind === "reference" ? referables.get(String(value))?.id : value
      return key === undefined ? [] : [{ id: definition.id, value: key }]
    })
    const owners = new Map((yield* ownersOf(keys)).map((one) => [uniqueKey(one.id, one.value), one.entityId]))
    return {
      definitions,
      referables,
      owners
    }
  }, Effect.orDie)
})

export type FieldState = Effect.Success<ReturnType<Effect.Success<typeof fieldReads>>>

export const categoryReads = Effect.map(
  SqlClient.SqlClient,
  (sql) =>
    Effect.fn("CatalogImportRepo.categories")(
      function*(records: ReadonlyArray<{ readonly slug: string; readonly parent?: string | null | undefined }>) {
        const organization = yield* currentOrganization
        // Lock the tree before any row, like every writer of several categories (`CategoryGuardRepo`).
        yield* treeLock(sql, organization)
        const slugs = records.map(({ slug }) => slug)
        const named = [...slugs, ...records.flatMap(({ parent }) => parent ?? [])]
        yield* sql`select 1 from categories where organization_id = ${organization} and slug = any(${slugs}::text[])
          order by id for no key update`.unprepared
        const rows = yield* categories.rows(sql, "unprepared")`with recursive line as (
            select * from categories where organization_id = ${organization} and slug = any(${named}::text[])
            union select c.* from line cross join lateral (select * from categories
              where id = line.parent_id and organization_id = ${organization} limit 1) c)
          select ${sql.literal(categories.columns())} from line`
        return {
          bySlug: new Map(rows.map((category) => [category.slug, category])),
          byId: new Map(rows.map((category) => [category.id, category]))
        }
      },
      Effect.orDie
    )
)

export type CategoryState = Effect.Success<ReturnType<Effect.Success<typeof categoryReads>>>
