import type { CatalogRecord, RecordVariant } from "./CatalogRecord.ts"
import type { StoredEntity, StoredField, StoredOption, StoredVariant, StoredWords } from "./CatalogState.ts"

/** The options of a variant by name, in the order of the entity's options. */
const optionsOf = (options: ReadonlyArray<StoredOption>, { combination }: StoredVariant) => {
  const ids = new Set(combination === "" ? [] : combination.split(","))
  return Object.fromEntries(
    options.flatMap(({ name, values }) =>
      values.filter(({ id }) => ids.has(id)).map(({ value }) => [name, value] as const)
    )
  )
}

/** In a readable order: the database sorts the keys of its JSON by length. */
const wordsOf = (words: StoredWords) => ({
  locale: words.locale,
  title: words.title,
  subtitle: words.subtitle,
  description: words.description,
  richDescription: words.richDescription,
  seoTitle: words.seoTitle,
  seoDescription: words.seoDescription
})

const variantOf = (options: ReadonlyArray<StoredOption>) => (variant: StoredVariant): RecordVariant => ({
  sku: variant.sku,
  barcode: variant.barcode,
  taxClass: variant.taxClass,
  status: variant.status,
  metadata: variant.metadata,
  options: optionsOf(options, variant)
})

/** Values by name; a reference is the slug of its entity. */
const fieldsOf = (fields: ReadonlyArray<StoredField>) =>
  Object.fromEntries(fields.map(({ name, target, value }) => [name, target?.slug ?? value]))

/** An entity in a file: the same record creates the same entity in another store. */
export const recordOf = ({ brands, categories, entity, fields, options, variants, words }: StoredEntity) =>
  ({
    slug: entity.slug,
    type: entity.type,
    status: entity.status,
    isVisible: entity.isVisible,
    taxClass: entity.taxClass,
    metadata: entity.metadata,
    customFields: fieldsOf(fields),
    attributes: words.map(wordsOf),
    categories: categories.map(({ slug }) => slug),
    brands: brands.map(({ slug }) => slug),
    options: options.map(({ name, values }) => ({ name, values: values.map(({ value }) => value) })),
    variants: variants.map(variantOf(options))
  }) satisfies CatalogRecord
