import { Schema } from "effect"
import { amount, idOf, jsonOf, longText, oneOf, RefundId, table, text, timestamp, uuid } from "stoa/plugin"
import { subOrders } from "../suborders/SubOrderTables.ts"

export const disputeReasons = [
  "item_not_received",
  "item_not_as_described",
  "defective",
  "wrong_item",
  "other"
] as const
export const disputeStatuses = ["vendor_response_pending", "platform_review", "escalated", "resolved"] as const
export const resolutions = [
  "refund_full",
  "refund_partial",
  "replacement",
  "rejected",
  "vendor_favor",
  "buyer_favor"
] as const

export const Evidence = Schema.Struct({
  party: Schema.Literals(["buyer", "vendor", "platform"]),
  type: Schema.String,
  url: Schema.optional(Schema.String),
  note: Schema.optional(Schema.String),
  at: Schema.String
})

/** A quarrel between a buyer and a vendor about a sub-order (contract, plugins §1.2). */
export const disputes = table("marketplace_disputes", {
  subOrderId: uuid.references(subOrders, "restrict"),
  openedBy: text,
  reason: oneOf(disputeReasons),
  description: longText.nullable,
  status: oneOf(disputeStatuses).default("vendor_response_pending"),
  resolution: oneOf(resolutions).nullable,
  resolutionNotes: longText.nullable,
  refundAmountCents: amount.nullable,
  refundId: idOf(RefundId).nullable,
  evidence: jsonOf(Schema.Array(Evidence)).default([]),
  resolvedBy: text.nullable,
  deadlineAt: timestamp.nullable,
  openedAt: timestamp.defaultNow,
  resolvedAt: timestamp.nullable
}, {
  unique: [{ columns: ["subOrderId"], where: "status <> 'resolved'" }],
  indexes: [{ columns: ["status", "deadlineAt"] }, { columns: ["subOrderId", "createdAt"] }]
})
