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

export interface ShopifyImage {
  readonly id: number
  readonly url: string
  readonly alt: string | null
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
  /** Of one unit, in minor units. */
  unitCost: number | null
  weight: { readonly value: number; readonly unit: "GRAMS" | "KILOGRAMS" | "OUNCES" | "POUNDS" } | null
  image: ShopifyImage | null
  /** Whether it is sold without stock. */
  oversells: boolean
  updated: number
}

export interface ShopifyProduct {
  readonly id: number
  readonly created: number
  options: ReadonlyArray<{ readonly name: string; readonly values: ReadonlyArray<string> }>
  images: ReadonlyArray<ShopifyImage>
  readonly variants: Array<ShopifyVariant>
  fields: ProductFields
  metafields: ReadonlyArray<ShopifyMetafield>
  updated: number
}

export interface ShopifyMetafield {
  readonly id: number
  readonly namespace: string
  readonly key: string
  readonly value: string
  readonly type: string
}

/** A metafield as a request sends it; without a value it is removed. */
export interface MetafieldSent extends Pick<ShopifyMetafield, "namespace" | "key"> {
  readonly value?: string
  readonly type?: string
}

export interface ProductFields {
  readonly title: string
  readonly handle: string
  readonly status: "ACTIVE" | "ARCHIVED" | "DRAFT" | "UNLISTED"
  readonly descriptionHtml: string
  readonly vendor: string
  readonly productType: string
  readonly tags: ReadonlyArray<string>
  /** Whether it is in the online store. */
  readonly published: boolean
  readonly giftCard: boolean
  readonly category: string | null
  readonly seo: { readonly title: string | null; readonly description: string | null }
}

export interface NewVariant {
  readonly sku?: string
  readonly price: number
  readonly options?: ReadonlyArray<string>
  /** Available units at the first location; not tracked if absent. */
  readonly stock?: number
  readonly oversells?: boolean
  readonly barcode?: string
  readonly compareAt?: number
  readonly unitCost?: number
  readonly weight?: ShopifyVariant["weight"]
  readonly image?: string
}

export interface NewProduct extends Partial<ProductFields> {
  readonly title: string
  readonly options?: ShopifyProduct["options"]
  readonly images?: ReadonlyArray<string | { readonly url: string; readonly alt: string }>
  readonly variants: ReadonlyArray<NewVariant>
}

/** Units that are available at all locations. */
export const stockOf = ({ levels }: ShopifyVariant) => levels.reduce((sum, { available }) => sum + available, 0)
