import { Schema } from "effect"
import { AnyJson, FreeText, keyText, StorableObject } from "../../text/Storable.ts"
import { EntityStatus, EntityType, TaxClass } from "../Entity.ts"
import { Locale, Slug } from "../FieldText.ts"

const maybe = <S extends Schema.Top>(schema: S) => Schema.optional(Schema.NullOr(schema))

const Label = keyText(255)

/** Most locales, options, links and variants that one record may carry: it bounds what a batch holds in memory. */
const upTo = (maximum: number) => Schema.isMaxLength(maximum)

/** Words of one locale, `en` where none is named; a title is needed the first time a locale is written. */
export const RecordWords = Schema.Struct({
  locale: Schema.optional(Locale),
  title: Schema.optional(FreeText),
  subtitle: maybe(FreeText),
  description: maybe(FreeText),
  richDescription: Schema.optional(AnyJson),
  seoTitle: maybe(FreeText),
  seoDescription: maybe(FreeText)
})
export type RecordWords = typeof RecordWords.Type

/** A variant: known by its SKU, and without one by its options. */
export const RecordVariant = Schema.Struct({
  sku: maybe(keyText(255)),
  barcode: maybe(keyText(255)),
  taxClass: maybe(TaxClass),
  status: Schema.optional(Schema.Literals(["active", "discontinued"])),
  metadata: Schema.optional(StorableObject),
  options: Schema.optional(Schema.Record(Label, Label))
})
export type RecordVariant = typeof RecordVariant.Type

/**
 * A catalog entity with everything that belongs to it, as files carry it: known by its slug, and naming categories, brands
 * and options by theirs, so that it means the same in every store. Absent keys keep what is there. `categories` and
 * `brands` replace the links there are; words, options and variants are added to those that are there. `customFields` are
 * by name, absent ones keep their value and null clears one; a reference is the slug of what it names.
 */
export const CatalogRecord = Schema.Struct({
  slug: Slug,
  type: Schema.optional(EntityType),
  status: Schema.optional(EntityStatus),
  isVisible: Schema.optional(Schema.Boolean),
  taxClass: maybe(TaxClass),
  metadata: Schema.optional(StorableObject),
  customFields: Schema.optional(StorableObject),
  attributes: Schema.optional(Schema.Array(RecordWords).check(upTo(100))),
  categories: Schema.optional(Schema.Array(Slug).check(upTo(1000))),
  brands: Schema.optional(Schema.Array(Slug).check(upTo(1000))),
  options: Schema.optional(
    Schema.Array(Schema.Struct({ name: Label, values: Schema.Array(Label).check(upTo(1000)) })).check(upTo(100))
  ),
  variants: Schema.optional(Schema.Array(RecordVariant).check(upTo(2048)))
}).annotate({ identifier: "CatalogRecord" })
export type CatalogRecord = typeof CatalogRecord.Type
