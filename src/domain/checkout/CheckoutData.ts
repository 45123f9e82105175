import type { BreakdownStep } from "../pricing/PriceResolution.ts"
import type { CheckoutRequest, PricedCart, PricedCartLine } from "./Checkout.ts"

/** A checkout line as hooks see it; minor units. */
export interface CheckoutLine extends PricedCartLine {
  readonly resolvedUnitPrice: number
  readonly resolvedTotal: number
  readonly priceBreakdown: ReadonlyArray<typeof BreakdownStep.Type>
}

/** A checkout as hooks see it (contract §0.5); they may change `metadata` and refuse. Amounts in minor units. */
export interface CheckoutData {
  readonly checkoutId: string
  readonly orderId: string
  /** Null for a manual order. */
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
  /** Prices contain the tax: `total` does not add it. */
  readonly taxIncluded: boolean
  readonly shippingTotal: number
  /** Gross; stored value (gift cards) does not lower it. */
  readonly total: number
  readonly promotionCodes: ReadonlyArray<string>
  readonly appliedPromotions: PricedCart["promotions"]
  readonly freeShipping: boolean
  readonly shippingAddress: CheckoutRequest["shippingAddress"] | null
  /** Name of the shipping rate; null without a choice of rates. */
  readonly shippingMethod: string | null
  /** Becomes part of the order's metadata. */
  readonly metadata: PricedCart["metadata"]
  /** Present from `checkout.beforeCreate` on. */
  readonly paymentIntentId?: string
  readonly paymentClientSecret?: string | null
}
