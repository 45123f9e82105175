import type { Order, OrderLine } from "../orders/Order.ts"
import type { PricingRequest } from "./Basket.ts"
import { type PricedCart, type PricedCartLine, totalsOf } from "./Checkout.ts"

/** The fields of an order that do not come from its priced cart. `metadata` overrides the priced cart's. */
export type OrderHead = Pick<
  Order,
  | "id"
  | "organizationId"
  | "orderNumber"
  | "paymentIntentId"
  | "paymentMethodId"
  | "idempotencyKey"
  | "placedAt"
  | "isDraft"
  | "metadata"
>

/** The promotions in the order's metadata. */
export const appliedIn = ({ promotions }: PricedCart) => promotions.map(({ perCustomer: _, ...applied }) => applied)

/** The shipping rate in the order's metadata. */
export const shippedBy = ({ shippingMethod, shippingRateId }: PricedCart) =>
  shippingRateId ? { shippingMethod, shippingRateId } : {}

/** The order line of a priced line; its metadata keeps the discount by staff for later edits. */
export const orderLineOf = (
  orderId: string,
  { basePriceId: _, isCustomPrice = false, manualDiscount, priceSteps: __, ...line }: PricedCartLine
): OrderLine => ({
  ...line,
  orderId,
  isCustomPrice,
  refundedQuantity: 0,
  fulfillmentStatus: "unfulfilled",
  metadata: manualDiscount === undefined ? {} : { manualDiscount }
})

/** The pending, unpaid order of a priced cart (contract §4). */
export const pendingOrder = (
  pricedCart: PricedCart,
  { promotionCodes, shippingAddress }: Pick<PricingRequest, "promotionCodes" | "shippingAddress">,
  { isDraft, metadata, ...head }: OrderHead
): Order => ({
  ...head,
  customerId: pricedCart.customerId,
  status: "pending",
  currency: pricedCart.currency,
  ...totalsOf(pricedCart),
  amountCaptured: null,
  refundedTotal: 0,
  shippingAddress: shippingAddress ?? null,
  metadata: {
    ...pricedCart.metadata,
    ...metadata,
    promotionCodes: promotionCodes ?? [],
    appliedPromotions: appliedIn(pricedCart),
    ...shippedBy(pricedCart),
    ...(shippingAddress ? { shippingAddress } : {})
  },
  ...(isDraft === true ? { isDraft } : {}),
  updatedAt: head.placedAt,
  fulfilledAt: null,
  cancelledAt: null,
  lineItems: pricedCart.lines.map((line) => orderLineOf(head.id, line))
})
