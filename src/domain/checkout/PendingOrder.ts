import type { Order, OrderLine } from "../orders/Order.ts"
import type { PricingRequest } from "./Basket.ts"
import type { PricedCart, PricedCartLine } from "./Checkout.ts"

/** What an order has besides what was decided. `metadata` goes over what the priced cart carries. */
export type OrderHead =
  & Pick<
    Order,
    | "id"
    | "organizationId"
    | "orderNumber"
    | "paymentIntentId"
    | "paymentMethodId"
    | "idempotencyKey"
    | "placedAt"
    | "isDraft"
  >
  & { readonly metadata: Order["metadata"] }

/** What the promotions of a priced cart leave in the order's metadata. */
export const appliedIn = ({ promotions }: PricedCart) => promotions.map(({ perCustomer: _, ...applied }) => applied)

/** The rate that was chosen, by whomever. */
export const shippedBy = ({ shippingMethod, shippingRateId }: PricedCart) =>
  shippingRateId ? { shippingMethod, shippingRateId } : {}

/** The line of an order that a decided line becomes; staff's discount on it is kept for later edits. */
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

/** The order that a priced cart becomes: pending, and nobody has been asked for its money yet (contract §4). */
export const pendingOrder = (
  pricedCart: PricedCart,
  { promotionCodes, shippingAddress }: Pick<PricingRequest, "promotionCodes" | "shippingAddress">,
  { id, idempotencyKey, isDraft, metadata, orderNumber, organizationId, paymentIntentId, paymentMethodId, placedAt }:
    OrderHead
): Order => ({
  id,
  organizationId,
  orderNumber,
  customerId: pricedCart.customerId,
  status: "pending",
  currency: pricedCart.currency,
  subtotal: pricedCart.subtotal,
  taxTotal: pricedCart.taxTotal,
  taxIncluded: pricedCart.taxIncluded ?? false,
  shippingTotal: pricedCart.shippingTotal,
  discountTotal: pricedCart.discountTotal,
  grandTotal: pricedCart.grandTotal,
  amountCaptured: null,
  refundedTotal: 0,
  paymentIntentId,
  paymentMethodId,
  idempotencyKey,
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
  placedAt,
  updatedAt: placedAt,
  fulfilledAt: null,
  cancelledAt: null,
  lineItems: pricedCart.lines.map((line) => orderLineOf(id, line))
})
