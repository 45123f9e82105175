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
  status: oneOf(["pending", "confirmed", "processing", "shipped", "delivered", "cancelled"]).default("pending").about(
    "Step of the vendor. Delivery starts the holdback before its money can be paid out."
  ),
  subtotal: amount.about("Lines of the vendor."),
  commissionAmount: amount.about("Share of the marketplace."),
  payoutAmount: amount.about("Amount that the vendor gets."),
  refundedAmount: amount.default(0).about("Part of `subtotal` that customers got back."),
  trackingNumber: text.nullable,
  trackingUrl: text.nullable,
  carrier: text.nullable.about("Carrier of the parcel."),
  /** Its parcel among the fulfillments of the order; null until something of it was sent by its vendor. */
  fulfillmentId: idOf(FulfillmentId).nullable,
  fulfillmentStatus: oneOf(["unfulfilled", "fulfilled"]).default("unfulfilled").about(
    "fulfilled: all its units have left."
  ),
  confirmedAt: timestamp.nullable,
  shippedAt: timestamp.nullable,
  deliveredAt: timestamp.nullable,
  cancelledAt: timestamp.nullable,
  cancellationReason: longText.nullable.about("Why it was cancelled."),
  vendorNotes: longText.nullable.about("Remarks of the vendor."),
  availableAt: timestamp.nullable.about("From when on its money may be paid out; null until it is delivered."),
  onHold: boolean.default(false).about("True: a dispute keeps the money back."),
  externalOrderId: text.nullable.forPeople.about("Id of the order in the shop of the vendor."),
  externalOrderUrl: text.nullable.forPeople.about("Address of the order in the shop of the vendor."),
  externalSyncStatus: oneOf(["pending", "synced", "failed"]).default("pending").forPeople.about(
    "State of the transfer to the shop of the vendor."
  ),
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
  refundedAmount: amount.default(0).about("Amount that was given back."),
  /** What its commission was agreed to be when it was sold (`CommissionTerms`); null: no rule, the vendor's own rate. */
  ruleId: uuid.nullable,
  rateBps: integerBetween(0, 10_000).about("Agreed share of the marketplace, in hundredths of a per cent."),
  fixedFeeCents: amount.default(0),
  minFeeCents: amount.nullable,
  maxFeeCents: amount.nullable,
  commissionAmount: amount.about("Share of the marketplace in the whole line, before refunds.")
}, { indexes: [{ columns: ["subOrderId"] }], changeLog: false })

const { createdAt: _, subOrderId: __, ...lineFields } = fieldsOf(subOrderLines)

/** A line as it is kept. */
export const KeptLine = Schema.Struct(lineFields)

/** A line of a sub-order: what of an order's line its vendor sold. */
const LineItem = Schema.Struct({
  ...Struct.omit(lineFields, ["fixedFeeCents", "minFeeCents", "maxFeeCents"]),
  totalPrice: amount.schema.annotate({ description: "Charge after discounts, without tax." }),
  commissionAmount: amount.schema.annotate({ description: "Commission of the whole line, before refunds." })
})

/** A vendor's part of an order with its lines; amounts in minor units of `currency`. */
export const SubOrder = Schema.Struct({ ...fieldsOf(subOrders), lineItems: Schema.Array(LineItem) })
  .annotate({ identifier: "MarketplaceSubOrder" })
export type SubOrder = typeof SubOrder.Type
export type SubOrderStatus = SubOrder["status"]
