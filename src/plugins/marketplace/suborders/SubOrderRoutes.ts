import { Schema } from "effect"
import { type Actor, FreeText, group, listOf, resource } from "stoa/plugin"
import { permission } from "../Market.ts"
import { ownVendor, portal, sellers } from "../parties/VendorPortal.ts"
import { ofOwnVendor } from "../parties/VendorRows.ts"
import { Parcel } from "./Parcels.ts"
import { SubOrder, subOrders } from "./SubOrder.ts"
import { forceSubOrder, moveSubOrder } from "./SubOrderMoves.ts"
import { cancelSubOrder, readSubOrder, subOrderView } from "./SubOrders.ts"

const g = group("Marketplace sub-orders", "/marketplace")
const success = SubOrder
const status = subOrders.columns.status.schema

const Reason = FreeText.check(Schema.isMaxLength(2_000))

const step = { ...sellers, success }

/** A sub-order of the vendor that the actor acts for; another one's is 404. */
const own = ({ actor, params }: { readonly actor: Actor; readonly params: { readonly subOrderId: string } }) => ({
  id: params.subOrderId,
  vendorId: ownVendor(actor)
})

export const subOrderRoutes = [
  ...resource(g, "/sub-orders", subOrders, {
    noun: "sub-order",
    read: permission,
    filters: ["orderId", "vendorId", "status"],
    view: subOrderView,
    list: { summary: "List sub-orders" }
  }),
  g.patch("/sub-orders/:id/status", {
    permission,
    success,
    summary: "Change the status of a sub-order",
    description:
      "To any status but out of delivered and cancelled (422). Cancelling gives the customer the money of its lines back.",
    input: Schema.Struct({ status, reason: Schema.optional(Reason) })
  }).handle(({ input: { reason, status }, params }) =>
    status === "cancelled"
      ? cancelSubOrder(params.id, reason ?? "Cancelled by the store.")
      : forceSubOrder(params.id, status)
  ),
  listOf(g, "/vendor/me/orders", subOrders, {
    ...portal,
    summary: "List the own sub-orders",
    filters: ["status"],
    visible: ofOwnVendor,
    view: subOrderView
  }),
  g.get("/vendor/me/orders/:subOrderId", { ...portal, summary: "Get an own sub-order", success })
    .handle((call) => readSubOrder(own(call))),
  g.post("/vendor/me/orders/:subOrderId/confirm", { ...step, summary: "Confirm a pending sub-order" })
    .handle((call) => moveSubOrder(own(call), "confirmed")),
  g.post("/vendor/me/orders/:subOrderId/process", { ...step, summary: "Start to prepare a confirmed sub-order" })
    .handle((call) => moveSubOrder(own(call), "processing")),
  g.post("/vendor/me/orders/:subOrderId/ship", {
    ...step,
    summary: "Mark a sub-order as shipped",
    description: "Makes a fulfillment of the order of what of it is not sent yet. 422 while the order is not paid.",
    input: Parcel
  }).handle((call) => moveSubOrder(own(call), "shipped", call.input)),
  g.post("/vendor/me/orders/:subOrderId/deliver", { ...step, summary: "Mark a sub-order as delivered" })
    .handle((call) => moveSubOrder(own(call), "delivered")),
  g.post("/vendor/me/orders/:subOrderId/cancel", {
    ...step,
    summary: "Cancel a sub-order; the customer gets the money of its lines back",
    input: Schema.Struct({ reason: Reason.check(Schema.isMinLength(1)) })
  }).handle((call) => cancelSubOrder(own(call), call.input.reason))
]
