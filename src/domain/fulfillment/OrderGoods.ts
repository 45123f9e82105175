import type { OrderLine } from "../orders/Order.ts"
import type { OrderStatus } from "../orders/OrderStatus.ts"

/** A line of an order and how much of it fulfillments cover. */
export interface FulfillableLine
  extends
    Pick<OrderLine, "entityId" | "entityType" | "fulfillmentStatus" | "id" | "quantity" | "sku" | "title" | "variantId">
{
  readonly refundedQuantity: number
  /** Units in fulfillments that were not cancelled. */
  readonly covered: number
}

/** What decides whether goods of an order can be handed over. */
export interface OrderGoods {
  readonly orderId: string
  readonly status: OrderStatus
  /** Its money was taken, or there was none to take. */
  readonly paid: boolean
  readonly customerId: string | null
  readonly lines: ReadonlyArray<FulfillableLine>
}

/** Units of a line that can still be handed over: neither covered nor refunded (contract §5). */
export const openUnits = ({ covered, fulfillmentStatus, quantity, refundedQuantity }: FulfillableLine): number =>
  fulfillmentStatus === "fulfilled" ? 0 : Math.max(0, quantity - refundedQuantity - covered)

/** The status of a line of which so many units are covered. */
export const lineStatus = (
  { quantity, refundedQuantity }: FulfillableLine,
  covered: number
): FulfillableLine["fulfillmentStatus"] =>
  covered <= 0 ? "unfulfilled" : covered >= quantity - refundedQuantity ? "fulfilled" : "partial"
