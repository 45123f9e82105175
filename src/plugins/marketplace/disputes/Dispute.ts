import { Effect, Schema } from "effect"
import {
  about,
  Amount,
  amount,
  FreeText,
  idOf,
  inputOf,
  invalid,
  jsonOf,
  longText,
  machine,
  oneOf,
  RefundId,
  type RowOf,
  table,
  text,
  timestamp,
  uuid
} from "stoa/plugin"
import { subOrders } from "../suborders/SubOrder.ts"

/** What somebody has to say. */
export const said = FreeText.check(Schema.isBetweenLength(1, 5_000))

const resolutions = ["refund_full", "refund_partial", "replacement", "rejected", "vendor_favor", "buyer_favor"] as const
type Resolution = typeof resolutions[number]

const Evidence = Schema.Struct({
  party: Schema.Literals(["buyer", "vendor", "platform"]).pipe(
    about("Party that gave it; platform is the marketplace.")
  ),
  type: Schema.String.pipe(about("Kind of the entry, such as response.")),
  url: Schema.optional(Schema.String),
  note: Schema.optional(Schema.String),
  at: Schema.String.pipe(about("Time of the entry, ISO 8601."))
})

/** A quarrel between a buyer and a vendor about a sub-order (contract, plugins §1.2). */
export const disputes = table("marketplace_disputes", {
  subOrderId: uuid.references(subOrders, "restrict"),
  openedBy: text.about("The user who opened it, or `customer` or `vendor`."),
  reason: oneOf(["item_not_received", "item_not_as_described", "defective", "wrong_item", "other"]).about(
    "Problem of the party that opened it."
  ),
  description: longText.nullable.about("Words of the party that opened it."),
  status: oneOf(["vendor_response_pending", "platform_review", "escalated", "resolved"])
    .default("vendor_response_pending").about(
      "Party whose turn it is. escalated: the marketplace decides, as after a deadline that the vendor missed."
    ),
  resolution: oneOf(resolutions).nullable.about("Decision of the marketplace; null until it is resolved."),
  resolutionNotes: longText.nullable.about("Reasons of the decision."),
  refundAmountCents: amount.nullable.about("Amount that the decision gives back."),
  refundId: idOf(RefundId).nullable,
  evidence: jsonOf(Schema.Array(Evidence), 65_536).default([]).about("Files and notes of both parties."),
  resolvedBy: text.nullable.about("User who decided."),
  deadlineAt: timestamp.nullable.about("When the next step is due."),
  openedAt: timestamp.defaultNow.forPeople,
  resolvedAt: timestamp.nullable
}, {
  unique: [{ columns: ["subOrderId"], where: "status <> 'resolved'" }],
  indexes: [{ columns: ["status", "deadlineAt"] }]
})
export type DisputeRow = RowOf<typeof disputes>

/** A vendor's silence until the deadline escalates, too. Answers are in `Disputes.ts`: most of them change no state. */
export const dispute = machine(disputes, {
  noun: "dispute",
  moves: {
    escalate: { from: ["vendor_response_pending", "platform_review"], to: "escalated" },
    resolve: {
      from: ["vendor_response_pending", "platform_review", "escalated"],
      to: "resolved",
      stamp: "resolvedAt",
      by: "resolvedBy",
      emits: "dispute.resolved"
    }
  }
})

const Url = FreeText.check(
  Schema.isPattern(/^https?:\/\/\S+$/, { expected: "an address that begins with http or https" }),
  Schema.isMaxLength(2_000)
)

/** What opens a dispute. `openedBy` is not read: it is the caller. */
export const NewDispute = Schema.Struct({
  ...inputOf(disputes, { required: ["subOrderId", "reason"] }).fields,
  description: Schema.optional(said)
})

/** A reply. `party` is not read: it follows from the caller's relation to the sub-order. */
export const Answer = Schema.Struct({ note: said, url: Schema.optional(Url) })

/** How a dispute ends; `refundAmountCents` is for `refund_partial`. `resolvedBy` is not read: it is the caller. */
export const Decision = Schema.Struct({
  resolution: Schema.Literals(resolutions).pipe(
    about("refund_full and buyer_favor give everything back, refund_partial gives back `refundAmountCents`.")
  ),
  notes: Schema.optional(said),
  refundAmountCents: Schema.optional(Amount.annotate({ description: "Minor units of the order's currency." }))
})

class RefundNeeded extends invalid(
  "RefundNeeded",
  "refundAmountCents",
  "refundAmountCents is required for refund_partial and must be above 0."
) {}
class NoPartialRefund extends invalid(
  "NoPartialRefund",
  "refundAmountCents",
  (resolution: Resolution) => `refundAmountCents can only be given for refund_partial, not for ${resolution}.`
) {}

/** Resolutions after which the customer gets everything back, or a part. */
const refunds: { readonly [R in Resolution]?: "all" | "part" } = {
  refund_full: "all",
  buyer_favor: "all",
  refund_partial: "part"
}

/** What a resolution gives back. An amount belongs to `refund_partial` alone, which needs one: 422. */
export const refundOf = Effect.fnUntraced(function*(resolution: Resolution, amount = 0) {
  const refund = refunds[resolution]
  if (refund === "part" && amount === 0) return yield* new RefundNeeded()
  if (refund !== "part" && amount > 0) return yield* new NoPartialRefund(resolution)
  return refund
})
