import { Schema } from "effect"
import { FreeText, group, OrderId, Text, Uuid } from "stoa/plugin"
import { portal, sellers } from "../parties/VendorPortal.ts"
import { WebAddress } from "../vendors/Vendor.ts"
import { SubOrder, SubOrderStatus } from "./SubOrder.ts"

const g = group("Marketplace sub-orders", "/marketplace")

const Reason = FreeText.check(Schema.isMaxLength(2_000))

export const listSubOrders = g.list("/sub-orders", {
  summary: "List sub-orders",
  permission: "marketplace:admin",
  query: {
    orderId: Schema.optional(OrderId),
    vendorId: Schema.optional(Uuid),
    status: Schema.optional(SubOrderStatus)
  },
  success: SubOrder
})

export const getSubOrder = g.get("/sub-orders/:id", {
  summary: "Read a sub-order",
  permission: "marketplace:admin",
  success: SubOrder
})

export const moveSubOrder = g.patch("/sub-orders/:id/status", {
  summary: "Move a sub-order to another status",
  description:
    "To any status but out of delivered and cancelled (422). Cancelling gives the customer the money of its lines back.",
  permission: "marketplace:admin",
  input: Schema.Struct({ status: SubOrderStatus, reason: Schema.optional(Reason) }),
  success: SubOrder
})

export const listOwnOrders = g.list("/vendor/me/orders", {
  ...portal,
  summary: "List the own sub-orders",
  query: { status: Schema.optional(SubOrderStatus) },
  success: SubOrder
})

export const getOwnOrder = g.get("/vendor/me/orders/:subOrderId", {
  ...portal,
  summary: "Read an own sub-order",
  success: SubOrder
})

export const confirmOrder = g.post("/vendor/me/orders/:subOrderId/confirm", {
  ...sellers,
  summary: "Confirm a pending sub-order",
  success: SubOrder
})

export const processOrder = g.post("/vendor/me/orders/:subOrderId/process", {
  ...sellers,
  summary: "Begin to prepare a confirmed sub-order",
  success: SubOrder
})

export const shipOrder = g.post("/vendor/me/orders/:subOrderId/ship", {
  ...sellers,
  summary: "Say that a sub-order is on its way",
  description: "Makes a fulfillment of the order of what of it is not sent yet. 422 while the order is not paid.",
  input: Schema.Struct({
    trackingNumber: Text,
    carrier: Schema.optional(Text),
    trackingUrl: Schema.optional(WebAddress)
  }),
  success: SubOrder
})

export const deliverOrder = g.post("/vendor/me/orders/:subOrderId/deliver", {
  ...sellers,
  summary: "Say that a sub-order has arrived",
  success: SubOrder
})

export const cancelOrder = g.post("/vendor/me/orders/:subOrderId/cancel", {
  ...sellers,
  summary: "Cancel a sub-order; the customer gets the money of its lines back",
  input: Schema.Struct({ reason: Reason.check(Schema.isMinLength(1)) }),
  success: SubOrder
})
