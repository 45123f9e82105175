import type { TypePolicies } from "../../src/domain/catalog/TypePolicy.ts"
import type { EntityId, ShippingRateId, ShippingZoneId, VariantId } from "../../src/domain/platform/ids/Id.ts"
import type { ModifierType } from "../../src/domain/pricing/PriceResolution.ts"
import type { PromotionType } from "../../src/domain/promotions/PromotionRules.ts"

/**
 * A price of a product: of it as a whole or of its one variant, from so many units on and for members of one group only
 * where that is said. No two of a product say the same.
 */
export interface ShopPrice {
  readonly currency: string
  readonly amount: number
  readonly minQuantity: number | null
  readonly ofVariant: boolean
  readonly group: number | null
}

/** Something to be sold. `variantId` is set where it is sold in a variant only. */
export interface ShopProduct {
  readonly id: EntityId
  readonly variantId: VariantId | null
  readonly type: string
  readonly category: string | null
  readonly weightGrams: number
  readonly taxClass: string | null
  readonly prices: ReadonlyArray<ShopPrice>
  /** What a plugin adds to the price, in minor units of any currency. */
  readonly steps: ReadonlyArray<{ readonly perUnit: number; readonly perLine: number; readonly taxable: boolean }>
}

/** A rule that changes prices; `product` and `group` are indices where it is for one only. No two have one priority. */
export interface ShopModifier {
  readonly type: ModifierType
  readonly value: number
  readonly currency: string | null
  readonly priority: number
  readonly product: number | null
  readonly group: number | null
  readonly minQuantity: number | null
  readonly minSubtotal: number | null
}

/** A promotion; percentages in steps of 1/40. No two have one priority. */
export interface ShopPromotion {
  readonly code: string
  readonly type: PromotionType
  readonly value: number
  readonly currency: string | null
  readonly buyQuantity: number
  readonly getQuantity: number
  readonly isAutomatic: boolean
  readonly stackable: boolean
  readonly priority: number
  readonly conditions: {
    readonly minimumOrderValue?: number
    readonly minimumQuantity?: number
    readonly entityTypes?: ReadonlyArray<string>
    readonly categories?: ReadonlyArray<string>
  }
}

/** A way of shipping; no two of a zone have one amount. */
export interface ShopRate {
  readonly id: ShippingRateId
  readonly currency: string
  readonly amount: number
  readonly minSubtotal: number | null
  readonly maxWeightGrams: number | null
  readonly freeShippingThreshold: number | null
  /** Name of the class of its tax. */
  readonly taxClass: string | null
}

/** Where a shop ships to; zones are in the order of their priority. */
export interface ShopZone {
  readonly id: ShippingZoneId
  readonly countries: ReadonlyArray<string>
  readonly states: ReadonlyArray<string> | null
  readonly rates: ReadonlyArray<ShopRate>
}

/** A class of goods with its rate where no other one is in force. */
export interface ShopTaxClass {
  readonly name: string
  readonly rateBps: number
  readonly isDefault: boolean
}

/** A rate of a place and a class; null: of all of them. No two compound ones have one priority. */
export interface ShopTaxRate {
  readonly country: string | null
  readonly state: string | null
  readonly taxClass: string | null
  readonly rateBps: number
  readonly compound: boolean
  readonly priority: number
  readonly appliesToShipping: boolean
  readonly inForce: boolean
  readonly validFrom: Date | null
  readonly validUntil: Date | null
}

/** How a shop is taxed. */
export interface ShopTax {
  readonly included: boolean
  readonly shippingByDefaultClass: boolean
  readonly classes: ReadonlyArray<ShopTaxClass>
  readonly rates: ReadonlyArray<ShopTaxRate>
}

/** Everything that decides what a cart costs. Amounts in minor units. */
export interface Shop {
  /** Ids of the groups that its customers may be in. */
  readonly groups: ReadonlyArray<string>
  readonly products: ReadonlyArray<ShopProduct>
  readonly modifiers: ReadonlyArray<ShopModifier>
  readonly promotions: ReadonlyArray<ShopPromotion>
  readonly zones: ReadonlyArray<ShopZone>
  /** What shipping costs without zones or without an address. */
  readonly flatRate: number
  readonly tax: ShopTax
}

/** What somebody wants to buy; `product` is an index, each at most once. */
export interface Wish {
  /** The groups that the buyer is in, by their numbers. */
  readonly groups: ReadonlyArray<number>
  /** The buyer pays no tax. */
  readonly exempt: boolean
  /** What is on a gift card that pays first; 0: there is none. */
  readonly card: number
  /** What single-purpose stored value pays at most, as it is decided without cards. */
  readonly alreadyTaxed: number
  readonly currency: string
  readonly lines: ReadonlyArray<{ readonly product: number; readonly quantity: number }>
  readonly codes: ReadonlyArray<string>
  readonly address: { readonly country: string; readonly state: string | null } | null
  /** Chosen among all rates of the shop by its number, whether it fits or not; null: the cheapest. */
  readonly rateId: string | null
}

/** The id of a group by its number; null where everybody is meant. */
export const groupIn = (groups: Shop["groups"], group: number | null): string | null =>
  group === null ? null : groups[group] ?? null

/** Amounts that carry no currency are in this one. */
export const defaultCurrency = "USD"

/** Types that are money and not goods, and who may be paid with it (contract-commerce §2). */
export const policies: TypePolicies = {
  gift_card: { manageInventory: false, storedValue: true },
  voucher: { manageInventory: false, storedValue: true, payableWithStoredValue: true },
  pass: { manageInventory: false, storedValue: true, singlePurpose: true },
  book: { payableWithStoredValue: false }
}

export const isStoredValue = ({ type }: Pick<ShopProduct, "type">): boolean => policies[type]?.storedValue === true

/** Taxed when it is sold. */
export const isSinglePurpose = ({ type }: Pick<ShopProduct, "type">): boolean => policies[type]?.singlePurpose === true

export const isPayableByCard = (product: Pick<ShopProduct, "type">): boolean =>
  policies[product.type]?.payableWithStoredValue ?? !isStoredValue(product)

/** Types whose goods are not shipped (docs/tax-and-shipping.md). */
export const unshippedTypes: ReadonlyArray<string> = ["digitalDownload", "course", "service"]

/** Letters' case and spaces around a country or a state do not matter. */
export const isSamePlace = (one: string | null, other: string): boolean =>
  (one ?? "").trim().toUpperCase() === other.trim().toUpperCase()
