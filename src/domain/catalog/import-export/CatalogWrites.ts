import type { Change } from "../../events/Event.ts"
import type { CatalogEntity } from "../Entity.ts"
import type { StoredVariant, StoredWords } from "./CatalogState.ts"

/** A link between an entity and a category or brand. */
export interface LinkRow {
  readonly entityId: string
  readonly targetId: string
  readonly sortOrder: number
}

/** A new value of an option. */
export interface OptionValueRow {
  readonly id: string
  readonly optionTypeId: string
  readonly value: string
  readonly sortOrder: number
}

/** A new or changed variant. */
export interface VariantRow extends StoredVariant {
  readonly entityId: string
}

/** The new value of a custom field. */
export interface FieldRow {
  readonly entityId: string
  readonly definitionId: string
  readonly value: unknown
  readonly isUnique: boolean
  readonly isReference: boolean
}

/** The rows that a batch writes and their change log entries, in one transaction. */
export interface CatalogWrites {
  readonly newEntities: Array<CatalogEntity>
  readonly changedEntities: Array<CatalogEntity>
  readonly words: Array<StoredWords & { readonly entityId: string }>
  readonly newCategories: Array<{ readonly id: string; readonly slug: string }>
  readonly newBrands: Array<{ readonly id: string; readonly slug: string }>
  readonly categoryLinks: Array<LinkRow>
  readonly categoryUnlinks: Array<Omit<LinkRow, "sortOrder">>
  readonly brandLinks: Array<LinkRow>
  readonly brandUnlinks: Array<Omit<LinkRow, "sortOrder">>
  readonly optionTypes: Array<
    { readonly id: string; readonly entityId: string; readonly name: string; readonly sortOrder: number }
  >
  readonly optionValues: Array<OptionValueRow>
  readonly newVariants: Array<VariantRow>
  readonly changedVariants: Array<VariantRow>
  readonly variantValues: Array<{ readonly variantId: string; readonly optionValueId: string }>
  readonly fields: Array<FieldRow>
  readonly goneFields: Array<Pick<FieldRow, "entityId" | "definitionId">>
  readonly changes: Array<Change>
}

/** An empty set of writes. */
export const noWrites = (): CatalogWrites => ({
  newEntities: [],
  changedEntities: [],
  words: [],
  newCategories: [],
  newBrands: [],
  categoryLinks: [],
  categoryUnlinks: [],
  brandLinks: [],
  brandUnlinks: [],
  optionTypes: [],
  optionValues: [],
  newVariants: [],
  changedVariants: [],
  variantValues: [],
  fields: [],
  goneFields: [],
  changes: []
})

/** Appends another set of writes. */
export const addWrites = (to: CatalogWrites, from: CatalogWrites): void => {
  to.newEntities.push(...from.newEntities)
  to.changedEntities.push(...from.changedEntities)
  to.words.push(...from.words)
  to.newCategories.push(...from.newCategories)
  to.newBrands.push(...from.newBrands)
  to.categoryLinks.push(...from.categoryLinks)
  to.categoryUnlinks.push(...from.categoryUnlinks)
  to.brandLinks.push(...from.brandLinks)
  to.brandUnlinks.push(...from.brandUnlinks)
  to.optionTypes.push(...from.optionTypes)
  to.optionValues.push(...from.optionValues)
  to.newVariants.push(...from.newVariants)
  to.changedVariants.push(...from.changedVariants)
  to.variantValues.push(...from.variantValues)
  to.fields.push(...from.fields)
  to.goneFields.push(...from.goneFields)
  to.changes.push(...from.changes)
}
