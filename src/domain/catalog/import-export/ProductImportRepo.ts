import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { currentOrganization } from "../../access/Actor.ts"
import type { RowTable } from "../../batching/RowBatch.ts"
import { RowBatchRepo, rowJson } from "../../batching/RowBatchRepo.ts"
import type { AttachedMedium } from "../../media/MediaAsset.ts"
import type { Attributes } from "../Entity.ts"
import type { CatalogEntity } from "../Entity.ts"
import { entities } from "../EntityStatements.ts"
import { EntityFieldRepo } from "../fields/EntityFieldRepo.ts"
import type { FieldDefinition } from "../fields/FieldDefinition.ts"
import type { FieldsByName } from "../fields/FieldDefinition.ts"
import type { OptionType, OptionValue } from "../variants/Variant.ts"
import type { Variant } from "../variants/Variant.ts"
import type { ProductRecord } from "./ProductRecord.ts"

const table = (name: string, columns: string, more: Partial<RowTable> = {}): RowTable => ({
  name,
  columns,
  key: "id",
  ...more
})

/** A table whose rows exist or do not: it has no columns besides its key that an import changes. */
const links = (name: string, columns: string, key: string) => table(name, columns, { key, updates: [] })

/** The tables of a product. */
export const productTables = {
  entities: table(
    "catalog_entities",
    "id, type, slug, status, is_visible, tax_class, metadata, created_at, updated_at, published_at"
  ),
  attributes: table(
    "entity_attributes",
    "id, entity_id, locale, title, subtitle, description, rich_description, seo_title, seo_description"
  ),
  categories: links("entity_categories", "entity_id, category_id, sort_order", "entity_id, category_id"),
  brands: links("entity_brands", "entity_id, brand_id, sort_order", "entity_id, brand_id"),
  options: table("option_types", "id, entity_id, name, display_name, sort_order"),
  optionValues: table("option_values", "id, option_type_id, value, display_value, sort_order, metadata"),
  variants: table("variants", "id, entity_id, sku, barcode, tax_class, status, sort_order, metadata, combination"),
  variantValues: links(
    "variant_option_values",
    "variant_id, option_value_id",
    "variant_id, option_value_id"
  ),
  fields: table("entity_field_values", "entity_id, definition_id, value, unique_key, reference_id", {
    key: "entity_id, definition_id",
    // The text that PostgreSQL makes of the value, as in `fieldWrites`.
    expressions: { unique_key: "case when x.unique_key is not null then x.value #>> '{}' end" }
  }),
  media: table("entity_media", "entity_id, variant_id, media_asset_id, role, sort_order, attached_at", {
    key: "entity_id, variant_id, media_asset_id",
    nullable: "variant_id",
    updates: ["role", "sort_order"]
  })
}

/** Stored attributes of a locale. */
export type StoredTexts = Omit<Attributes, "status">

/** A stored variant; `combination` is the key of its option values. */
export interface StoredVariant extends Omit<Variant, "organizationId" | "sourceStoreId" | "optionValueIds"> {
  readonly combination: string
}

/** An option with its values. */
export interface StoredOption extends OptionType {
  readonly values: ReadonlyArray<OptionValue>
}

/** A category or a brand. */
export interface NamedGroup {
  readonly id: string
  readonly slug: string
}

/** The value of an active custom field of the entity's type. */
export interface StoredField {
  readonly definitionId: string
  readonly name: string
  readonly value: unknown
}

/** All parts of an entity that records can name; locked until the end of the batch. */
export interface ProductParts {
  readonly attributes: ReadonlyArray<StoredTexts>
  readonly categories: ReadonlyArray<NamedGroup>
  readonly brands: ReadonlyArray<NamedGroup>
  readonly options: ReadonlyArray<StoredOption>
  readonly variants: ReadonlyArray<StoredVariant>
  readonly fields: ReadonlyArray<StoredField>
  readonly media: ReadonlyArray<AttachedMedium>
}

/** The current entity with its parts. */
export interface StoredProduct extends ProductParts {
  readonly entity: CatalogEntity
}

/** The stored state at the start of a batch. */
export interface ProductState {
  /** By slug. */
  readonly products: ReadonlyMap<string, StoredProduct>
  /** Ids by slug, of those that the records name. */
  readonly categories: Map<string, string>
  readonly brands: Map<string, string>
  /** The entities of SKUs that the records name. */
  readonly skus: Map<string, NamedGroup>
  /** Ids of assets that the records name. */
  readonly assets: ReadonlySet<string>
}

/** An entity that a reference can name. */
export interface Referable {
  readonly id: string
  readonly type: string
}

/** The state that custom fields of a batch are validated against. */
export interface FieldState {
  /** The active fields of each type of the records. */
  readonly definitions: ReadonlyMap<string, ReadonlyArray<FieldDefinition>>
  /** By slug: entities that the records reference, and those that the batch creates. */
  readonly referables: Map<string, Referable>
  /** The owners of unique values that the records name, by `uniqueKey`. */
  readonly owners: Map<string, string>
}

/** The custom fields of a record, and the type of its entity. */
export interface FieldsOfRecord {
  readonly type: string
  readonly fields: FieldsByName
}

/** A value of a unique field. */
export const uniqueKey = (definitionId: string, value: unknown): string => `${definitionId} ${JSON.stringify(value)}`

const ofEntity = "x.entity_id = e.id and x.organization_id = e.organization_id"

/** A JSON list of parts `x` of the entity `e`, by one index look-up. */
const part = (name: keyof ProductParts, json: string, from = `${productTables[name].name} x`) =>
  `(select coalesce(jsonb_agg(${json}), '[]') from ${from} where ${ofEntity}) as ${name}`

const group = (of: string) => `jsonb_build_object('id', ${of}.id, 'slug', ${of}.slug)`

const parts = [
  part("attributes", rowJson(productTables.attributes, "x")),
  part("categories", group("c"), "entity_categories x join categories c on c.id = x.category_id"),
  part("brands", group("b"), "entity_brands x join brands b on b.id = x.brand_id"),
  part(
    "options",
    `${rowJson(productTables.options, "x")} || jsonb_build_object('values',
      (select coalesce(jsonb_agg(${rowJson(productTables.optionValues, "v")}), '[]') from option_values v
        where v.option_type_id = x.id and v.organization_id = x.organization_id))`
  ),
  part("variants", rowJson(productTables.variants, "x")),
  part(
    "fields",
    "jsonb_build_object('definitionId', d.id, 'name', d.name, 'value', x.value)",
    `entity_field_values x join entity_field_definitions d on d.id = x.definition_id and d.status = 'active'
      and d.entity_type = e.type`
  ),
  part("media", rowJson(productTables.media, "x"))
].join(", ")

/** The values that the records send for the selected fields. */
const sentFor = (
  records: ReadonlyArray<FieldsOfRecord>,
  definitions: FieldState["definitions"],
  picked: (definition: FieldDefinition) => boolean
) =>
  records.flatMap(({ fields, type }) =>
    (definitions.get(type) ?? []).filter(picked).flatMap((definition) => {
      const value = Object.hasOwn(fields, definition.name) ? fields[definition.name] : null
      return value === null || value === undefined ? [] : [{ definition, value }]
    })
  )

/** Reads and locks the products of a batch, in a constant number of statements. */
export const productReads = Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  const rows = yield* RowBatchRepo

  const ids = Effect.fnUntraced(function*(name: "categories" | "brands", slugs: ReadonlyArray<string>) {
    const found = yield* rows.find<NamedGroup>(table(name, "id, slug"), "slug", slugs, "key share")
    return new Map(found.map(({ id, slug }) => [slug, id]))
  })

  return Effect.fn("ProductImportRepo.products")(function*(records: ReadonlyArray<ProductRecord>) {
    const organization = yield* currentOrganization
    const slugs = records.map(({ slug }) => slug)
    const media = records.flatMap((record) => record.media ?? [])
    const skus = [...media, ...records.flatMap(({ variants = [] }) => variants)].flatMap(({ sku }) => sku ?? [])
    // Lock first, then read: a statement does not see what others committed while it waited for the lock. Entities are
    // locked in the order of their ids, so that two batches cannot deadlock.
    yield* rows.find({ ...productTables.entities, columns: "id" }, "slug", slugs, "no key update")
    const stored = yield* sql<CatalogEntity & ProductParts>`select ${sql.literal(entities.columns("e"))},
        ${sql.literal(parts)} from catalog_entities e
      where e.organization_id = ${organization} and e.slug = any(${slugs}::text[])`.unprepared
    const categories = yield* ids("categories", records.flatMap((record) => record.categories ?? []))
    const brands = yield* ids("brands", records.flatMap((record) => record.brands ?? []))
    // A look-up for each variant: a join would read all entities.
    const owners = skus.length === 0 ?
      [] :
      yield* sql<NamedGroup & { readonly sku: string }>`select sku, entity_id as id,
        (select slug from catalog_entities e where e.id = v.entity_id and e.organization_id = v.organization_id) as slug
      from variants v where organization_id = ${organization} and sku = any(${skus}::text[])`.unprepared
    const assets = yield* rows.find<Pick<NamedGroup, "id">>(
      table("media_assets", "id"),
      "id",
      media.map(({ id }) => id),
      "key share"
    )
    const state: ProductState = {
      products: new Map(
        stored.map(({ attributes, brands, categories, fields, media, options, variants, ...entity }) => [
          entity.slug,
          { entity, attributes, brands, categories, fields, media, options, variants }
        ])
      ),
      categories,
      brands,
      skus: new Map(owners.map(({ sku, ...owner }) => [sku, owner])),
      assets: new Set(assets.map(({ id }) => id))
    }
    return state
  }, Effect.orDie)
})

/** Reads and locks definitions and referenced entities; to be called after `productReads`, to keep the lock order. */
export const fieldReads = Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  const rows = yield* RowBatchRepo
  const fields = yield* EntityFieldRepo

  const ownersOf = Effect.fnUntraced(function*(keys: ReadonlyArray<{ readonly id: string; readonly value: unknown }>) {
    const organization = yield* currentOrganization
    return yield* sql<{ readonly id: string; readonly value: unknown; readonly entity_id: string }>`
      select f.definition_id as id, f.value, f.entity_id
      from jsonb_to_recordset(${JSON.stringify(keys)}::jsonb) as x(id uuid, value jsonb)
        join entity_field_values f on f.definition_id = x.id and f.unique_key = x.value #>> '{}'
      where f.organization_id = ${organization}`.unprepared
  })

  return Effect.fn("ProductImportRepo.fields")(function*(records: ReadonlyArray<FieldsOfRecord>) {
    const definitions = yield* fields.definitionsOf([...new Set(records.map(({ type }) => type))])
    const state: FieldState = { definitions, referables: new Map(), owners: new Map() }
    if (definitions.size === 0) return state
    const slugs = sentFor(records, definitions, ({ kind }) => kind === "reference")
      .map(({ value }) => value).filter((slug) => typeof slug === "string")
    const named = { ...productTables.entities, columns: "id, type, slug" }
    const found = yield* rows.find<Referable & NamedGroup>(named, "slug", slugs, "key share")
    for (const { id, slug, type } of found) state.referables.set(slug, { id, type })
    const keys = sentFor(records, definitions, ({ isUnique }) => isUnique).flatMap(({ definition, value }) => {
      const key = definition.kind === "reference" ? state.referables.get(String(value))?.id : value
      return key === undefined ? [] : [{ id: definition.id, value: key }]
    })
    for (const { entity_id, id, value } of yield* ownersOf(keys)) state.owners.set(uniqueKey(id, value), entity_id)
    return state
  }, Effect.orDie)
})
