import { Schema } from "effect"
import { group, Uuid } from "stoa/plugin"
import { pageOfParty } from "../parties/Parties.ts"
import { Answer, Decision, dispute, disputes, NewDispute } from "./Dispute.ts"
import { answerDispute, openDispute, readDispute, resolveDispute } from "./Disputes.ts"

const g = group("Marketplace disputes", "/marketplace/disputes")
const success = disputes.Row
const permission = "marketplace:admin"

export const disputeRoutes = [
  g.post("/", { auth: true, summary: "Open a dispute about a sub-order, as its buyer", input: NewDispute, success })
    .handle(({ input }) => openDispute(input)),
  g.list("/", {
    auth: true,
    summary: "List disputes: one's own, all for operators",
    query: { status: Schema.optional(disputes.columns.status.schema), subOrderId: Schema.optional(Uuid) },
    success
  }).handle(({ page, query }) => pageOfParty(disputes, "party", query, page)),
  g.get("/:id", { auth: true, summary: "Read a dispute", success }).handle(({ params }) => readDispute(params.id)),
  g.post("/:id/respond", {
    auth: true,
    summary: "Add to a dispute what its buyer, its vendor or an operator has to say",
    input: Answer,
    success
  }).handle(({ input, params }) => answerDispute(params.id, input)),
  g.post("/:id/escalate", { permission, summary: "Escalate a dispute", success })
    .handle(({ db, params }) => dispute.move(db, "escalate", params.id)),
  g.post("/:id/resolve", {
    permission,
    summary: "Resolve a dispute, giving the customer back what was decided",
    input: Decision,
    success
  }).handle(({ input, params }) => resolveDispute(params.id, input))
]
