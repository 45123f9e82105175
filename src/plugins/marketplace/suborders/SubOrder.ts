import { Schema } from "effect"
import {
  EntityId,
  FulfillmentId,
  OrderId,
  OrderLineId,
  type RowOf,
  StorableObject,
  Time,
  Uuid,
  VariantId
} from "stoa/plugin"
import { type subOrderLines, type subOrders, subOrderStatuses } from "./SubOrderTables.ts"

export const SubOrderStatus = Schema.Literals(subOrderStatuses)

/** A line of a sub-order: what of an order's line its vendor sold. */
export const LineItem = Schema.Struct({
  id: Uuid,
  orderLineId: OrderLineId,
  entityId: EntityId,
  variantId: Schema.NullOr(VariantId),
  title: Schema.String,
  quantity: Schema.Int,
  totalPrice: Schema.Int.annotate({ description: "What was charged for it, after discounts and without tax." }),
  refundedAmount: Schema.Int,
  ruleId: Schema.NullOr(Uuid),
  rateBps: Schema.Int,
  commissionAmount: Schema.Int.annotate({ description: "Of the whole line, before refunds." })
})

/** A vendor's part of an order with its lines; amounts in minor units of `currency`. */
export const SubOrder = Schema.Struct({
  id: Uuid,
  organizationId: Schema.String,
  orderId: OrderId,
  vendorId: Uuid,
  currency: Schema.String,
  status: SubOrderStatus,
  subtotal: Schema.Int,
  commissionAmount: Schema.Int,
  payoutAmount: Schema.Int,
  refundedAmount: Schema.Int,
  lineItems: Schema.Array(LineItem),
  trackingNumber: Schema.NullOr(Schema.String),
  trackingUrl: Schema.NullOr(Schema.String),
  carrier: Schema.NullOr(Schema.String),
  fulfillmentId: Schema.NullOr(FulfillmentId),
  fulfillmentStatus: Schema.Literals(["unfulfilled", "fulfilled"]),
  confirmedAt: Schema.NullOr(Time),
  shippedAt: Schema.NullOr(Time),
  deliveredAt: Schema.NullOr(Time),
  cancelledAt: Schema.NullOr(Time),
  cancellationReason: Schema.NullOr(Schema.String),
  vendorNotes: Schema.NullOr(Schema.String),
  availableAt: Schema.NullOr(Time),
  onHold: Schema.Boolean,
  externalOrderId: Schema.NullOr(Schema.String),
  externalOrderUrl: Schema.NullOr(Schema.String),
  externalSyncStatus: Schema.Literals(["pending", "synced", "failed"]),
  metadata: StorableObject,
  createdAt: Time,
  updatedAt: Time
}).annotate({ identifier: "MarketplaceSubOrder" })
export type SubOrder = typeof SubOrder.Type

/** A row and its lines as the API shows them. */
export const toSubOrder = (
  row: RowOf<typeof subOrders>,
  lines: ReadonlyArray<RowOf<typeof subOrderLines>>
): SubOrder => ({ ...row, lineItems: lines })
