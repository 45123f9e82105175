import type { CatalogEntity } from "../Entity.ts"

/** Stored attributes of a locale. */
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

/** A stored variant; `combination` is the key of its option values. */
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

/** The value of an active custom field of the entity's type; `target`: the referenced entity. */
export interface StoredField {
  readonly definitionId: string
  readonly name: string
  readonly value: unknown
  readonly target: null | {
    readonly slug: string
    readonly type: string
    /** Its slug sorts before that of the entity. */
    readonly isEarlier: boolean
  }
}

/** The current entity with all parts that records can name; locked until the end of the batch. */
export interface StoredEntity {
  readonly entity: CatalogEntity
  readonly words: ReadonlyArray<StoredWords>
  readonly categories: ReadonlyArray<Named>
  readonly brands: ReadonlyArray<Named>
  readonly options: ReadonlyArray<StoredOption>
  readonly variants: ReadonlyArray<StoredVariant>
  readonly fields: ReadonlyArray<StoredField>
}

/** The stored state at the start of a batch. */
export interface CatalogState {
  /** Time of the read by the clock of the database; the time of every change of the batch. */
  readonly now: Date
  /** By slug. */
  readonly entities: ReadonlyMap<string, StoredEntity>
  /** Ids by slug, of those that the records name. */
  readonly categories: Map<string, string>
  readonly brands: Map<string, string>
  /** The entity of a SKU, for SKUs that the records name. */
  readonly skus: Map<string, string>
}
