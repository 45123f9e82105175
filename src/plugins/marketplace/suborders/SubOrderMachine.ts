import type { RowOf } from "stoa/plugin"
import type { subOrders } from "./SubOrderTables.ts"

type SubOrder = RowOf<typeof subOrders>
export type SubOrderStatus = SubOrder["status"]

/**
 * How a vendor moves its part of an order (contract, plugins §1.2): `processing` may be left out. What was handed over to
 * a carrier cannot be cancelled any more, and what is delivered or cancelled stays so.
 */
export const sources: { readonly [To in Exclude<SubOrderStatus, "pending">]: ReadonlyArray<SubOrderStatus> } = {
  confirmed: ["pending"],
  processing: ["confirmed"],
  shipped: ["confirmed", "processing"],
  delivered: ["shipped"],
  cancelled: ["pending", "confirmed", "processing"]
}

/** Transitions of staff: from any status but a final one; `cancelled` follows the rules of all actors. */
export const sourcesForStaff = (to: SubOrderStatus): ReadonlyArray<SubOrderStatus> =>
  to === "cancelled" ? sources.cancelled : ["pending", "confirmed", "processing", "shipped"]

const steps = ["pending", "confirmed", "processing", "shipped", "delivered"] as const

/** Whether something that happens at `step` has happened in `status`. */
const reached = (status: SubOrderStatus, step: typeof steps[number]): boolean =>
  steps.findIndex((one) => one === status) >= steps.indexOf(step)

type Stamps = Pick<
  SubOrder,
  "confirmedAt" | "shippedAt" | "deliveredAt" | "availableAt" | "fulfillmentStatus"
>

/**
 * The times of a sub-order that reaches a status: the one of the status itself, and no longer those of steps behind it, for
 * staff may also move it back. Its money can be paid out `holdbackDays` after it was delivered.
 */
export const stampsOf = (
  before: Pick<SubOrder, "confirmedAt" | "shippedAt">,
  to: Exclude<SubOrderStatus, "cancelled">,
  at: Date,
  holdbackDays: number
): Stamps => ({
  confirmedAt: to === "confirmed" ? at : reached(to, "confirmed") ? before.confirmedAt : null,
  shippedAt: to === "shipped" ? at : reached(to, "shipped") ? before.shippedAt : null,
  deliveredAt: to === "delivered" ? at : null,
  availableAt: to === "delivered" ? new Date(at.getTime() + holdbackDays * 86_400_000) : null,
  fulfillmentStatus: to === "delivered" ? "fulfilled" : "unfulfilled"
})
