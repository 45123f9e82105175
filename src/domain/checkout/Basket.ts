import type { CheckoutRequest } from "./Checkout.ts"

/** A cart line with the catalog data that its order line will keep. */
export interface ClaimedLine {
  readonly entityId: string
  readonly variantId: string | null
  readonly quantity: number
  readonly entityType: string | null
  readonly available: boolean
  readonly title: string | null
  readonly sku: string | null
  readonly categorySlugs: ReadonlyArray<string>
  readonly weightGrams: number
  /** Tax class of the variant, else of the entity (contract §3.5). */
  readonly taxClass: string | null
}

/** Terms that staff set for a line, or that its order line already has. Minor units. */
export interface Agreement {
  /** Id of the existing order line. */
  readonly lineId?: string | undefined
  /** Absent: the current catalog price. */
  readonly unitPrice?: number | undefined
  /** Staff set the unit price; the catalog never replaces it. */
  readonly isCustomPrice: boolean
  /** Discount by staff on the full line, before promotions; at most the line's total. */
  readonly discount: number
}

/** A line to be priced: of a cart, a staff request or an edited order. */
export interface BasketLine extends ClaimedLine {
  readonly agreed?: Agreement | undefined
}

/** The lines to price and their customer: a cart, a quote or a manual order (contract §3.8, §4.4). */
export interface Basket {
  readonly currency: string
  readonly customerId: string | null
  /** Groups of that customer. */
  readonly customerGroupIds: ReadonlyArray<string>
  /** Identifies a guest. */
  readonly email: string | null
  /** Hash of the cart's secret; empty without a cart. */
  readonly secretHash: string
  readonly lines: ReadonlyArray<BasketLine>
  /** Promotions that this order already uses; its usage does not count against their limits. Absent without an order. */
  readonly used?: ReadonlyArray<string> | undefined
}

/** The parts of a request, besides the lines, that decide the price. */
export type PricingRequest = Pick<
  CheckoutRequest,
  "customerId" | "customerGroupIds" | "promotionCodes" | "shippingAddress" | "shippingRateId" | "metadata"
>
