/** Words of a product in one language. */
export interface DemoWords {
  readonly title: string
  readonly description: string
}

/** A price that holds from so many units on, or for one customer group. Minor units. */
export interface DemoPrice {
  readonly usd: number
  readonly eur: number
  readonly minQuantity?: number
  readonly customerGroupId?: string
}

/** An axis along which a product varies: its name and its values in their order. */
export interface DemoOption {
  readonly name: string
  readonly values: ReadonlyArray<string>
}

/** A product of the demo store. With options, every combination is a variant with `stock` units. */
export interface DemoProduct {
  readonly slug: string
  readonly sku: string
  readonly brand: string
  readonly categories: readonly [string, ...ReadonlyArray<string>]
  readonly en: DemoWords
  readonly de: DemoWords
  /** The price everybody pays, then those for quantities and groups. */
  readonly prices: readonly [DemoPrice, ...ReadonlyArray<DemoPrice>]
  readonly weightGrams: number
  readonly stock: number
  readonly options?: ReadonlyArray<DemoOption>
}
