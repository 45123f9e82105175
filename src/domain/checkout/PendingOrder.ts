import { Struct } from "effect"
import { chosenMetadata } from "../carts/Line.ts"
import { buyerShown } from "../customers/BuyerProfile.ts"
import type { Order, StoredLine } from "../orders/Order.ts"
import { shownOrder } from "../orders/ShownOrder.ts"
import { noPayment, type PaymentColumns } from "../orders/Tender.ts"
import type { OrderId } from "../platform/ids/Id.ts"
import {
  appliedIn,
  type PricedCart,
  type PricedCartLine,
  type PricingRequest,
  shippedBy,
  totalsOf
} from "./PricedCart.ts"

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

export const orderLineOf = (
  orderId: OrderId,
  { addedSteps = [], basePriceId: _, isCustomPrice = false, manualDiscount, priceSteps: __, ...line }: PricedCartLine
): StoredLine => ({
  ...line,
  orderId,
  taxes: line.taxes ?? [],
  isCustomPrice,
  priceSteps: addedSteps,
  refundedQuantity: 0,
  fulfillmentStatus: "unfulfilled",
  metadata: { ...chosenMetadata(line), ...(manualDiscount === undefined ? {} : { manualDiscount }) }
})

/** The pending, unpaid order of a priced cart (contract §4). */
export const pendingOrder = (
  pricedCart: PricedCart,
  { promotionCodes, shippingAddress }: Pick<PricingRequest, "promotionCodes" | "shippingAddress">,
  { isDraft, metadata, ...head }: OrderHead,
  payment: PaymentColumns = noPayment
): Order =>
  shownOrder({
    ...head,
    customerId: pricedCart.customerId,
    ...buyerShown(pricedCart.email, pricedCart.profile),
    currency: pricedCart.currency,
    ...totalsOf(pricedCart),
    taxExemption: pricedCart.taxExemption ?? null,
    status: "pending",
    amountCaptured: null,
    refundedTotal: 0,
    shippingAddress: shippingAddress ?? null,
    metadata: {
      ...Struct.omit(pricedCart.metadata, ["alreadyTaxed"]),
      ...metadata,
      promotionCodes: promotionCodes ?? [],
      appliedPromotions: appliedIn(pricedCart),
      ...shippedBy(pricedCart),
      ...(pricedCart.alreadyTaxed === undefined ? {} : { alreadyTaxed: pricedCart.alreadyTaxed }),
      ...(shippingAddress ? { shippingAddress } : {})
    },
    ...(isDraft === true ? { isDraft } : {}),
    updatedAt: head.placedAt,
    fulfilledAt: null,
    cancelledAt: null,
    lineItems: pricedCart.lines.map((line) => orderLineOf(head.id, line))
  }, payment)
