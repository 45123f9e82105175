import type { CheckoutRequest } from "./Checkout.ts"

/** A line to be sold with what its order line will remember of the catalog. */
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
  /** Name of the tax class the variant says, else the entity (contract §3.5). */
  readonly taxClass: string | null
}

/** What staff agreed with the customer about a line, or what stands in his order already. Minor units. */
export interface Agreement {
  /** The line of an order that is there already keeps its id. */
  readonly lineId?: string | undefined
  /** Absent: the catalog's price of today. */
  readonly unitPrice?: number | undefined
  /** The unit price was given by staff and stays, whatever the catalog says. */
  readonly isCustomPrice: boolean
  /** Off the whole line, given by staff; before promotions, and never more than the line comes to. */
  readonly discount: number
}

/** A line to be priced: from a cart, from a request of staff, or of an order that is edited. */
export interface BasketLine extends ClaimedLine {
  readonly agreed?: Agreement | undefined
}

/** What a priced cart is about. A cart is one, and so are the lines of a quote and of a manual order (contract §3.8, §4.4). */
export interface Basket {
  readonly currency: string
  readonly customerId: string | null
  /** Groups of that customer. */
  readonly customerGroupIds: ReadonlyArray<string>
  /** Of the cart or the order; what a guest is known by. */
  readonly email: string | null
  /** Of the cart; empty without one. */
  readonly secretHash: string
  readonly lines: ReadonlyArray<BasketLine>
  /** Promotions that this very order has used: it does not stand in its own way at their limits. Absent: no order yet. */
  readonly used?: ReadonlyArray<string> | undefined
}

/** What of a request decides the price beside the lines. */
export type PricingRequest = Pick<
  CheckoutRequest,
  "customerId" | "customerGroupIds" | "promotionCodes" | "shippingAddress" | "shippingRateId" | "metadata"
>
