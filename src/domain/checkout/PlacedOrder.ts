import type { Order, OrderLine } from "../orders/Order.ts"
import type { PricingRequest } from "./Basket.ts"
import type { DecidedLine, Decision } from "./Checkout.ts"

/** What an order has besides what was decided. `metadata` goes over what the decision carries. */
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

/** What the promotions of a decision leave in the order's metadata. */
export const appliedIn = ({ promotions }: Decision) => promotions.map(({ perCustomer: _, ...applied }) => applied)

/** The rate that was chosen, by whomever. */
export const shippedBy = ({ shippingMethod, shippingRateId }: Decision) =>
  shippingRateId ? { shippingMethod, shippingRateId } : {}

/** The line of an order that a decided line becomes; staff's discount on it is kept for later edits. */
export const orderLineOf = (
  orderId: string,
  { basePriceId: _, isCustomPrice = false, manualDiscount, priceSteps: __, ...line }: DecidedLine
): OrderLine => ({
  ...line,
  orderId,
  isCustomPrice,
  refundedQuantity: 0,
  fulfillmentStatus: "unfulfilled",
  metadata: manualDiscount === undefined ? {} : { manualDiscount }
})

/** The order that a decision becomes: pending, and nobody has been asked for its money yet (contract §4). */
export const placedOrder = (
  decision: Decision,
  { promotionCodes, shippingAddress }: Pick<PricingRequest, "promotionCodes" | "shippingAddress">,
  { id, idempotencyKey, isDraft, metadata, orderNumber, organizationId, paymentIntentId, paymentMethodId, placedAt }:
    OrderHead
): Order => ({
  id,
  organizationId,
  orderNumber,
  customerId: decision.customerId,
  status: "pending",
  currency: decision.currency,
  subtotal: decision.subtotal,
  taxTotal: decision.taxTotal,
  taxIncluded: decision.taxIncluded ?? false,
  shippingTotal: decision.shippingTotal,
  discountTotal: decision.discountTotal,
  grandTotal: decision.grandTotal,
  amountCaptured: null,
  refundedTotal: 0,
  paymentIntentId,
  paymentMethodId,
  idempotencyKey,
  shippingAddress: shippingAddress ?? null,
  metadata: {
    ...decision.metadata,
    ...metadata,
    promotionCodes: promotionCodes ?? [],
    appliedPromotions: appliedIn(decision),
    ...shippedBy(decision),
    ...(shippingAddress ? { shippingAddress } : {})
  },
  ...(isDraft === true ? { isDraft } : {}),
  placedAt,
  updatedAt: placedAt,
  fulfilledAt: null,
  cancelledAt: null,
  lineItems: decision.lines.map((line) => orderLineOf(id, line))
})
