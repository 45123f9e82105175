export interface ShopifyLocation {
  readonly id: number
  readonly name: string
}

export interface Level {
  readonly id: number
  readonly location: ShopifyLocation
  available: number
  committed: number
  updated: number
}

export interface ShopifyVariant {
  readonly id: number
  /** The id of its inventory item. */
  readonly item: number
  readonly product: ShopifyProduct
  readonly levels: ReadonlyArray<Level>
  readonly options: ReadonlyArray<string>
  sku: string
  barcode: string | null
  /** Minor units. */
  price: number
  compareAt: number | null
  tracked: boolean
  /** Whether it is sold without stock. */
  oversells: boolean
  updated: number
}

export interface ShopifyProduct {
  readonly id: number
  readonly created: number
  readonly options: ReadonlyArray<{ readonly name: string; readonly values: ReadonlyArray<string> }>
  readonly images: ReadonlyArray<{ readonly id: number; readonly url: string }>
  readonly variants: Array<ShopifyVariant>
  fields: ProductFields
  updated: number
}

export interface ProductFields {
  readonly title: string
  readonly handle: string
  readonly status: "ACTIVE" | "ARCHIVED" | "DRAFT" | "UNLISTED"
  readonly descriptionHtml: string
  readonly vendor: string
  readonly productType: string
  readonly tags: ReadonlyArray<string>
}

export interface NewVariant {
  readonly sku?: string
  readonly price: number
  readonly options?: ReadonlyArray<string>
  /** Available units at the first location; not tracked if absent. */
  readonly stock?: number
  readonly oversells?: boolean
}

export interface NewProduct extends Partial<ProductFields> {
  readonly title: string
  readonly options?: ShopifyProduct["options"]
  readonly images?: ReadonlyArray<string>
  readonly variants: ReadonlyArray<NewVariant>
}

/** Units that are available at all locations. */
export const stockOf = ({ levels }: ShopifyVariant) => levels.reduce((sum, { available }) => sum + available, 0)
