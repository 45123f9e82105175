import { Schema, Struct } from "effect"
import { EntityChange, EntityType, Locale, Slug, SortOrder } from "../../catalog/Entity.ts"
import { stockPolicyFields } from "../../catalog/StockPolicy.ts"
import { NewVariant, Variant } from "../../catalog/variants/Variant.ts"
import { MediaRole } from "../../media/MediaAsset.ts"
import { type EntityId, MediaAssetId } from "../../platform/ids/Id.ts"
import { maybe } from "../../platform/text/Fields.ts"
import { AnyJson, FreeText, keyText, StorableObject } from "../../platform/text/Storable.ts"

const Label = keyText(255)

const upTo = (maximum: number) => Schema.isMaxLength(maximum)

export const ProductTexts = Schema.Struct({
  locale: Schema.optional(Locale),
  title: Schema.optional(FreeText),
  subtitle: maybe(FreeText),
  description: maybe(FreeText),
  richDescription: Schema.optional(AnyJson),
  seoTitle: maybe(FreeText),
  seoDescription: maybe(FreeText)
})
export type ProductTexts = typeof ProductTexts.Type

/** A variant, identified by its SKU, else by its options. */
export const VariantRecord = Schema.Struct({
  ...Struct.pick(NewVariant.fields, ["sku", "barcode", "taxClass", ...stockPolicyFields]),
  status: Schema.optional(Variant.fields.status),
  metadata: Schema.optional(StorableObject),
  options: Schema.optional(Schema.Record(Label, Label))
})
export type VariantRecord = typeof VariantRecord.Type

export const optionsOf = (variantId: string, organizationId: string) =>
  `(select json_object_agg(t.name, w.value order by t.sort_order, t.id) from variant_option_values_read o
    join option_values_read w on w.id = o.option_value_id join option_types_read t on t.id = w.option_type_id
    where o.variant_id = ${variantId} and o.organization_id = ${organizationId})`

/** Whether the SKU of a variant is none or that of others too. */
export const isNamedByOptions = (variant: string) =>
  `${variant}.id is not null and (${variant}.sku is null or exists (select 1 from variants_read same
    where same.organization_id = ${variant}.organization_id and same.sku = ${variant}.sku and same.id <> ${variant}.id))`

/**
 * `id` is the id of an asset: catalog files contain no media files. Default of `sortOrder`: the position in the list.
 */
export const MediumRecord = Schema.Struct({
  id: MediaAssetId,
  role: Schema.optional(MediaRole),
  sortOrder: Schema.optional(SortOrder),
  sku: Schema.optional(Label),
  options: Schema.optional(Schema.Record(Label, Label))
})
export type MediumRecord = typeof MediumRecord.Type

/**
 * A catalog entity with all its parts, identified by slug. References are slugs or names: a file works in every store.
 * Absent keys keep the stored value. `categories`, `brands` and `media` replace the links; attributes, options and
 * variants are merged.
 */
export const ProductRecord = Schema.Struct({
  slug: Slug,
  type: Schema.optional(EntityType),
  ...Struct.pick(EntityChange.fields, ["status", "isVisible", "taxClass", ...stockPolicyFields]),
  ...Struct.pick(EntityChange.fields, ["metadata", "customFields"]),
  attributes: Schema.optional(Schema.Array(ProductTexts).check(upTo(100))),
  categories: Schema.optional(Schema.Array(Slug).check(upTo(1000))),
  brands: Schema.optional(Schema.Array(Slug).check(upTo(1000))),
  options: Schema.optional(
    Schema.Array(Schema.Struct({ name: Label, values: Schema.Array(Label).check(upTo(1000)) })).check(upTo(100))
  ),
  variants: Schema.optional(Schema.Array(VariantRecord).check(upTo(2048))),
  media: Schema.optional(Schema.Array(MediumRecord).check(upTo(1000)))
}).annotate({ identifier: "ProductRecord" })
export type ProductRecord = typeof ProductRecord.Type

interface NamedGroup {
  readonly name: string
  /** The slug of the category above. */
  readonly parent: string | null
}

/** Names of groups by slug, for those that have to be created. */
export interface NamedGroups {
  readonly categories: ReadonlyMap<string, NamedGroup>
  readonly brands: ReadonlyMap<string, NamedGroup>
}

/** A record with the names of its groups, where its file has them. */
export interface NamedProduct extends ProductRecord {
  readonly named?: NamedGroups
  /** The entity that has the slug, null: none. */
  readonly expected?: EntityId | null
}
