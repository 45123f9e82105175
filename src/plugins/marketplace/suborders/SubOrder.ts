import { Schema, Struct } from "effect"
import {
  amount,
  boolean,
  childOf,
  EntityId,
  fieldsOf,
  FulfillmentId,
  idOf,
  integer,
  integerBetween,
  json,
  longText,
  oneOf,
  OrderId,
  OrderLineId,
  table,
  text,
  timestamp,
  uuid,
  VariantId
} from "stoa/plugin"
import { vendors } from "../vendors/Vendor.ts"

/**
 * A vendor's part of an order (contract, plugins §1.1). `subtotal` is what its lines were really charged, after their
 * discounts; `commissionAmount` and `payoutAmount` are shares of what of that is still due, and change with refunds.
 */
export const subOrders = table("marketplace_vendor_sub_orders", {
  orderId: idOf(OrderId),
  vendorId: uuid.references(vendors, "restrict"),
  currency: text,
  status: oneOf(["pending", "confirmed", "processing", "shipped", "delivered", "cancelled"]).default("pending"),
  subtotal: amount,
  commissionAmount: amount,
  payoutAmount: amount,
  /** Of `subtotal`, what customers got back. */
  refundedAmount: amount.default(0),
  trackingNumber: text.nullable,
  trackingUrl: text.nullable,
  carrier: text.nullable,
  /** Its parcel among the fulfillments of the order; null until something of it was sent by its vendor. */
  fulfillmentId: idOf(FulfillmentId).nullable,
  fulfillmentStatus: oneOf(["unfulfilled", "fulfilled"]).default("unfulfilled"),
  confirmedAt: timestamp.nullable,
  shippedAt: timestamp.nullable,
  deliveredAt: timestamp.nullable,
  cancelledAt: timestamp.nullable,
  cancellationReason: longText.nullable,
  vendorNotes: longText.nullable,
  /** From when its money may be paid out; null until it is delivered. */
  availableAt: timestamp.nullable,
  /** A dispute is open: nothing of it is paid out. */
  onHold: boolean.default(false),
  externalOrderId: text.nullable.forPeople,
  externalOrderUrl: text.nullable.forPeople,
  externalSyncStatus: oneOf(["pending", "synced", "failed"]).default("pending").forPeople,
  metadata: json.default({})
}, {
  unique: [{ columns: ["orderId", "vendorId"] }],
  checks: {
    adds_up: "payout_amount = subtotal - refunded_amount - commission_amount",
    refunds_within: "refunded_amount between 0 and subtotal"
  }
})

/** What of an order's line its vendor is owed: the rule that decided its commission, and how much of it came back. */
export const subOrderLines = childOf(subOrders, "subOrderId", "marketplace_sub_order_lines", {
  subOrderId: uuid.references(subOrders),
  orderLineId: idOf(OrderLineId).unique(),
  entityId: idOf(EntityId),
  variantId: idOf(VariantId).nullable,
  title: longText,
  quantity: integer,
  /** What was charged for it, after its discounts and without tax, minor units. */
  totalPrice: amount,
  refundedAmount: amount.default(0),
  /** What its commission was agreed to be when it was sold (`CommissionTerms`); null: no rule, the vendor's own rate. */
  ruleId: uuid.nullable,
  rateBps: integerBetween(0, 10_000),
  fixedFeeCents: amount.default(0),
  minFeeCents: amount.nullable,
  maxFeeCents: amount.nullable,
  /** Of the whole line, before refunds. */
  commissionAmount: amount
}, { indexes: [{ columns: ["subOrderId"] }], changeLog: false })

const { createdAt: _, subOrderId: __, ...lineFields } = fieldsOf(subOrderLines)

/** A line as it is kept. */
export const KeptLine = Schema.Struct(lineFields)

/** A line of a sub-order: what of an order's line its vendor sold. */
const LineItem = Schema.Struct({
  ...Struct.omit(lineFields, ["fixedFeeCents", "minFeeCents", "maxFeeCents"]),
  totalPrice: amount.schema.annotate({ description: "What was charged for it, after discounts and without tax." }),
  commissionAmount: amount.schema.annotate({ description: "Of the whole line, before refunds." })
})

/** A vendor's part of an order with its lines; amounts in minor units of `currency`. */
export const SubOrder = Schema.Struct({ ...fieldsOf(subOrders), lineItems: Schema.Array(LineItem) })
  .annotate({ identifier: "MarketplaceSubOrder" })
export type SubOrder = typeof SubOrder.Type
export type SubOrderStatus = SubOrder["status"]
