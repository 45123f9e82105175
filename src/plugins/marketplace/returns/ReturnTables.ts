import { Schema } from "effect"
import { amount, CustomerId, idOf, jsonOf, longText, oneOf, RefundId, table, text, timestamp, uuid } from "stoa/plugin"
import { subOrders } from "../suborders/SubOrderTables.ts"

export const returnReasons = ["defective", "wrong_item", "not_as_described", "changed_mind", "other"] as const

export const returnStatuses = [
  "requested",
  "vendor_approved",
  "vendor_rejected",
  "shipped_back",
  "received",
  "refunded"
] as const

export const ReturnedLine = Schema.Struct({
  entityId: Schema.String.pipe(Schema.brand("EntityId")),
  quantity: Schema.Int,
  reason: Schema.optional(Schema.String)
})

/** Goods that a buyer sends back to a vendor (contract, plugins §1.2). */
export const returns = table("marketplace_return_requests", {
  subOrderId: uuid.references(subOrders, "restrict"),
  customerId: idOf(CustomerId).nullable,
  reason: oneOf(returnReasons),
  description: longText.nullable,
  status: oneOf(returnStatuses).default("requested"),
  lineItems: jsonOf(Schema.Array(ReturnedLine)).nullable,
  refundAmountCents: amount.nullable,
  refundId: idOf(RefundId).nullable,
  vendorNotes: longText.nullable,
  trackingNumber: text.nullable,
  /** When the vendor has to have answered. */
  deadlineAt: timestamp.nullable,
  requestedAt: timestamp.defaultNow,
  resolvedAt: timestamp.nullable
}, { indexes: [{ columns: ["status", "deadlineAt"] }, { columns: ["subOrderId", "createdAt"] }] })
