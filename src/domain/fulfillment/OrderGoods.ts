import type { OrderLine } from "../orders/Order.ts"
import type { OrderStatus } from "../orders/OrderStatus.ts"

/** An order line and its fulfilled units. */
export interface FulfillableLine
  extends
    Pick<OrderLine, "entityId" | "entityType" | "fulfillmentStatus" | "id" | "quantity" | "sku" | "title" | "variantId">
{
  readonly refundedQuantity: number
  /** Units in fulfillments that were not cancelled. */
  readonly covered: number
}

/** The state that decides whether an order can be fulfilled. */
export interface OrderGoods {
  readonly orderId: string
  readonly status: OrderStatus
  /** The order was paid, or had nothing to pay. */
  readonly paid: boolean
  readonly customerId: string | null
  readonly lines: ReadonlyArray<FulfillableLine>
}

/** Units of a line that can still be fulfilled: neither covered nor refunded (contract §5). */
export const openUnits = ({ covered, fulfillmentStatus, quantity, refundedQuantity }: FulfillableLine): number =>
  fulfillmentStatus === "fulfilled" ? 0 : Math.max(0, quantity - refundedQuantity - covered)

/** The status of a line with this many covered units. */
export const lineStatus = (
  { quantity, refundedQuantity }: FulfillableLine,
  covered: number
): FulfillableLine["fulfillmentStatus"] =>
  covered <= 0 ? "unfulfilled" : covered >= quantity - refundedQuantity ? "fulfilled" : "partial"
