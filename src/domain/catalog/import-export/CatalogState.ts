import type { CatalogEntity } from "../Entity.ts"

/** Words of a locale as they are stored. */
export interface StoredWords {
  readonly id: string
  readonly locale: string
  readonly title: string
  readonly subtitle: string | null
  readonly description: string | null
  readonly richDescription: unknown
  readonly seoTitle: string | null
  readonly seoDescription: string | null
}

/** A variant as it is stored; `combination` is the key of its option values. */
export interface StoredVariant {
  readonly id: string
  readonly sku: string | null
  readonly barcode: string | null
  readonly taxClass: string | null
  readonly status: "active" | "discontinued"
  readonly sortOrder: number
  readonly metadata: Readonly<Record<string, unknown>>
  readonly combination: string
}

/** An option with its values in their order. */
export interface StoredOption {
  readonly id: string
  readonly name: string
  readonly sortOrder: number
  readonly values: ReadonlyArray<{ readonly id: string; readonly value: string; readonly sortOrder: number }>
}

/** A category or a brand. */
export interface Named {
  readonly id: string
  readonly slug: string
}

/** The value of a custom field that the entity's type has now; `target`: what a reference names. */
export interface StoredField {
  readonly definitionId: string
  readonly name: string
  readonly value: unknown
  readonly target: null | {
    readonly slug: string
    readonly type: string
    /** Its slug stands before that of the entity. */
    readonly isEarlier: boolean
  }
}

/** An entity and all that records of files speak of, as it is now; locked until the end of the batch. */
export interface StoredEntity {
  readonly entity: CatalogEntity
  readonly words: ReadonlyArray<StoredWords>
  readonly categories: ReadonlyArray<Named>
  readonly brands: ReadonlyArray<Named>
  readonly options: ReadonlyArray<StoredOption>
  readonly variants: ReadonlyArray<StoredVariant>
  readonly fields: ReadonlyArray<StoredField>
}

/** What a batch of records starts from. */
export interface CatalogState {
  /** When it was read, by the clock of the database: the time of every change of the batch. */
  readonly now: Date
  /** By slug. */
  readonly entities: ReadonlyMap<string, StoredEntity>
  /** Ids by slug, of those that the records name. */
  readonly categories: Map<string, string>
  readonly brands: Map<string, string>
  /** The entity that has a SKU, of those that the records name. */
  readonly skus: Map<string, string>
}
