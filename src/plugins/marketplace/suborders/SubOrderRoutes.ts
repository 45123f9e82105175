import { Schema } from "effect"
import { type Actor, FreeText, group, OrderId, Uuid } from "stoa/plugin"
import { ownVendor, portal, sellers } from "../parties/VendorPortal.ts"
import { Parcel } from "./Parcels.ts"
import { SubOrder, subOrders } from "./SubOrder.ts"
import { forceSubOrder, moveSubOrder } from "./SubOrderMoves.ts"
import { cancelSubOrder, listSubOrders, readSubOrder } from "./SubOrders.ts"

const g = group("Marketplace sub-orders", "/marketplace")
const success = SubOrder
const admin = { permission: "marketplace:admin", success }
const status = subOrders.columns.status.schema

const Reason = FreeText.check(Schema.isMaxLength(2_000))

/** A sub-order of the vendor that the actor acts for; another one's is 404. */
const own = ({ actor, params }: { readonly actor: Actor; readonly params: { readonly subOrderId: string } }) => ({
  id: params.subOrderId,
  vendorId: ownVendor(actor)
})

export const subOrderRoutes = [
  g.list("/sub-orders", {
    ...admin,
    summary: "List sub-orders",
    query: { orderId: Schema.optional(OrderId), vendorId: Schema.optional(Uuid), status: Schema.optional(status) }
  }).handle(({ page, query }) => listSubOrders(query, page)),
  g.get("/sub-orders/:id", { ...admin, summary: "Read a sub-order" }).handle(({ params }) => readSubOrder(params.id)),
  g.patch("/sub-orders/:id/status", {
    ...admin,
    summary: "Move a sub-order to another status",
    description:
      "To any status but out of delivered and cancelled (422). Cancelling gives the customer the money of its lines back.",
    input: Schema.Struct({ status, reason: Schema.optional(Reason) })
  }).handle(({ input: { reason, status }, params }) =>
    status === "cancelled"
      ? cancelSubOrder(params.id, reason ?? "Cancelled by the store.")
      : forceSubOrder(params.id, status)
  ),
  g.list("/vendor/me/orders", {
    ...portal,
    summary: "List the own sub-orders",
    query: { status: Schema.optional(status) },
    success
  }).handle(({ actor, page, query }) => listSubOrders({ ...query, vendorId: ownVendor(actor) }, page)),
  g.get("/vendor/me/orders/:subOrderId", { ...portal, summary: "Read an own sub-order", success })
    .handle((call) => readSubOrder(own(call))),
  g.post("/vendor/me/orders/:subOrderId/confirm", { ...sellers, summary: "Confirm a pending sub-order", success })
    .handle((call) => moveSubOrder(own(call), "confirmed")),
  g.post("/vendor/me/orders/:subOrderId/process", {
    ...sellers,
    summary: "Begin to prepare a confirmed sub-order",
    success
  }).handle((call) => moveSubOrder(own(call), "processing")),
  g.post("/vendor/me/orders/:subOrderId/ship", {
    ...sellers,
    summary: "Say that a sub-order is on its way",
    description: "Makes a fulfillment of the order of what of it is not sent yet. 422 while the order is not paid.",
    input: Parcel,
    success
  }).handle((call) => moveSubOrder(own(call), "shipped", call.input)),
  g.post("/vendor/me/orders/:subOrderId/deliver", { ...sellers, summary: "Say that a sub-order has arrived", success })
    .handle((call) => moveSubOrder(own(call), "delivered")),
  g.post("/vendor/me/orders/:subOrderId/cancel", {
    ...sellers,
    summary: "Cancel a sub-order; the customer gets the money of its lines back",
    input: Schema.Struct({ reason: Reason.check(Schema.isMinLength(1)) }),
    success
  }).handle((call) => cancelSubOrder(own(call), call.input.reason))
]
