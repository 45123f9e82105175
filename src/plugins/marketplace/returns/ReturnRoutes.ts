import { Schema } from "effect"
import { Amount, group, Text, Uuid } from "stoa/plugin"
import { said } from "../disputes/Dispute.ts"
import { pageOfParty } from "../parties/Parties.ts"
import { portal, sellers } from "../parties/VendorPortal.ts"
import { NewReturn, returns } from "./Return.ts"
import {
  approveReturn,
  readReturn,
  receiveReturn,
  refundReturn,
  rejectReturn,
  requestReturn,
  shipBack
} from "./Returns.ts"

const g = group("Marketplace returns", "/marketplace")
const success = returns.Row
const query = { status: Schema.optional(returns.columns.status.schema), subOrderId: Schema.optional(Uuid) }

export const returnRoutes = [
  g.post("/returns", {
    auth: true,
    summary: "Ask to send goods of a sub-order back, as its buyer",
    input: NewReturn,
    success
  }).handle(({ input }) => requestReturn(input)),
  g.list("/returns", { auth: true, summary: "List returns: one's own, all for operators", query, success })
    .handle(({ page, query }) => pageOfParty(returns, "party", query, page)),
  g.get("/returns/:id", { auth: true, summary: "Read a return", success }).handle(({ params }) =>
    readReturn(params.id)
  ),
  g.post("/returns/:id/ship-back", {
    auth: true,
    summary: "Say that approved goods are on their way back, as their buyer",
    input: Schema.Struct({ trackingNumber: Text }),
    success
  }).handle(({ input, params }) => shipBack(params.id, input)),
  g.post("/returns/:id/receive", {
    auth: true,
    summary: "Say that goods came back, as their vendor or an operator",
    success
  }).handle(({ params }) => receiveReturn(params.id)),
  g.post("/returns/:id/refund", {
    auth: true,
    summary: "Give the customer back what the goods cost or what was agreed, as their vendor or an operator",
    success
  }).handle(({ params }) => refundReturn(params.id)),
  g.list("/vendor/me/returns", { ...portal, summary: "List returns of the own vendor", query, success })
    .handle(({ page, query }) => pageOfParty(returns, "seller", query, page)),
  g.post("/vendor/me/returns/:id/approve", {
    ...sellers,
    summary: "Approve a return",
    description: "What the vendor offers for it; absent: what the goods cost. 0: it is taken back for nothing.",
    input: Schema.Struct({ refundAmountCents: Schema.optional(Amount) }),
    success
  }).handle(({ input, params }) => approveReturn(params.id, input.refundAmountCents ?? null)),
  g.post("/vendor/me/returns/:id/reject", {
    ...sellers,
    summary: "Reject a return",
    input: Schema.Struct({ notes: Schema.optional(said) }),
    success
  }).handle(({ input, params }) => rejectReturn(params.id, { vendorNotes: input.notes ?? null }))
]
