import type { BreakdownStep } from "../pricing/PriceResolution.ts"
import type { CheckoutRequest, PricedCart, PricedCartLine } from "./Checkout.ts"

/** A line that is about to be bought, as hooks see it; minor units. */
export interface CheckoutLine extends PricedCartLine {
  readonly resolvedUnitPrice: number
  readonly resolvedTotal: number
  /** How the unit price came about. */
  readonly priceBreakdown: ReadonlyArray<typeof BreakdownStep.Type>
}

/** What hooks see of a checkout (contract §0.5); they may change `metadata` and refuse. Amounts in minor units. */
export interface CheckoutData {
  readonly checkoutId: string
  readonly orderId: string
  /** Null of an order that staff wrote. */
  readonly cartId: string | null
  readonly customerId: string | null
  readonly customerGroupIds: ReadonlyArray<string>
  readonly currency: string
  readonly paymentMethodId: string | null
  readonly paymentMethodToken: string | null
  readonly idempotencyKey: string | null
  readonly lineItems: ReadonlyArray<CheckoutLine>
  readonly subtotal: number
  readonly discountTotal: number
  readonly taxTotal: number
  /** The prices contain the tax: it is a part of `total` and not added to it. */
  readonly taxIncluded: boolean
  readonly shippingTotal: number
  /** Gross: what stored value pays of it is a tender and does not lower it. */
  readonly total: number
  readonly promotionCodes: ReadonlyArray<string>
  readonly appliedPromotions: PricedCart["promotions"]
  readonly freeShipping: boolean
  readonly shippingAddress: CheckoutRequest["shippingAddress"] | null
  /** Name of the shipping rate; null where there was none to choose. */
  readonly shippingMethod: string | null
  /** Ends up in the order's metadata. */
  readonly metadata: PricedCart["metadata"]
  /** From `checkout.beforeCreate` on. */
  readonly paymentIntentId?: string
  readonly paymentClientSecret?: string | null
}
