import { Schema } from "effect"
import { Amount, EntityId, FreeText, group, Text, Uuid } from "stoa/plugin"
import { portal, sellers } from "../parties/VendorPortal.ts"
import { returnReasons, returns, returnStatuses } from "./ReturnTables.ts"

const said = FreeText.check(Schema.isBetweenLength(1, 5_000))
const Units = Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 2_147_483_647 }))

/** What asks for a return; without lines, of everything that is left. `customerId` is not read: it is who bought it. */
export const NewReturn = Schema.Struct({
  subOrderId: Uuid,
  reason: Schema.Literals(returnReasons),
  description: Schema.optional(said),
  lineItems: Schema.optional(
    Schema.Array(Schema.Struct({ entityId: EntityId, quantity: Units, reason: Schema.optional(said) })).check(
      Schema.isBetweenLength(1, 1_000)
    )
  )
})

/** What the vendor offers for it, minor units; absent: what the goods cost. 0: it is taken back for nothing. */
export const Approval = Schema.Struct({ refundAmountCents: Schema.optional(Amount) })
export const Rejection = Schema.Struct({ notes: Schema.optional(said) })
export const ShippedBack = Schema.Struct({ trackingNumber: Text })

const g = group("Marketplace returns", "/marketplace")
const success = returns.Row
const query = { status: Schema.optional(Schema.Literals(returnStatuses)), subOrderId: Schema.optional(Uuid) }

export const requestReturn = g.post("/returns", {
  auth: true,
  summary: "Ask to send goods of a sub-order back, as its buyer",
  input: NewReturn,
  success
})
export const listReturns = g.list("/returns", {
  auth: true,
  summary: "List returns: one's own, all for operators",
  query,
  success
})
export const readReturn = g.get("/returns/:id", { auth: true, summary: "Read a return", success })

export const shipBack = g.post("/returns/:id/ship-back", {
  auth: true,
  summary: "Say that approved goods are on their way back, as their buyer",
  input: ShippedBack,
  success
})
export const receiveReturn = g.post("/returns/:id/receive", {
  auth: true,
  summary: "Say that goods came back, as their vendor or an operator",
  success
})
export const refundReturn = g.post("/returns/:id/refund", {
  auth: true,
  summary: "Give the customer back what the goods cost or what was agreed, as their vendor or an operator",
  success
})

export const vendorReturns = g.list("/vendor/me/returns", {
  ...portal,
  summary: "List returns of the own vendor",
  query,
  success
})
export const approveReturn = g.post("/vendor/me/returns/:id/approve", {
  ...sellers,
  summary: "Approve a return",
  input: Approval,
  success
})
export const rejectReturn = g.post("/vendor/me/returns/:id/reject", {
  ...sellers,
  summary: "Reject a return",
  input: Rejection,
  success
})
