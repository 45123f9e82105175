import { Schema } from "effect"
import { Amount, FreeText, group, Uuid } from "stoa/plugin"
import { disputeReasons, disputes, disputeStatuses, resolutions } from "./DisputeTables.ts"

const said = FreeText.check(Schema.isBetweenLength(1, 5_000))
const Url = FreeText.check(Schema.isPattern(/^https?:\/\/\S+$/), Schema.isMaxLength(2_000))

/** What opens a dispute. `openedBy` is not read: it is the caller. */
export const NewDispute = Schema.Struct({
  subOrderId: Uuid,
  reason: Schema.Literals(disputeReasons),
  description: Schema.optional(said)
})

/** A reply. `party` is not read: it follows from the caller's relation to the sub-order. */
export const DisputeAnswer = Schema.Struct({ note: said, url: Schema.optional(Url) })

/** How a dispute ends; `refundAmountCents` is for `refund_partial`. `resolvedBy` is not read: it is the caller. */
export const Resolution = Schema.Struct({
  resolution: Schema.Literals(resolutions),
  notes: Schema.optional(said),
  refundAmountCents: Schema.optional(Amount.annotate({ description: "Minor units of the order's currency." }))
})

const g = group("Marketplace disputes", "/marketplace/disputes")
const success = disputes.Row

export const openDispute = g.post("/", {
  auth: true,
  summary: "Open a dispute about a sub-order, as its buyer",
  input: NewDispute,
  success
})

export const listDisputes = g.list("/", {
  auth: true,
  summary: "List disputes: one's own, all for operators",
  query: { status: Schema.optional(Schema.Literals(disputeStatuses)), subOrderId: Schema.optional(Uuid) },
  success
})

export const readDispute = g.get("/:id", { auth: true, summary: "Read a dispute", success })

export const answerDispute = g.post("/:id/respond", {
  auth: true,
  summary: "Add to a dispute what its buyer, its vendor or an operator has to say",
  input: DisputeAnswer,
  success
})

export const escalateDispute = g.post("/:id/escalate", {
  permission: "marketplace:admin",
  summary: "Escalate a dispute",
  success
})

export const resolveDispute = g.post("/:id/resolve", {
  permission: "marketplace:admin",
  summary: "Resolve a dispute, giving the customer back what was decided",
  input: Resolution,
  success
})
