import { DateTime, Effect } from "effect"
import { CurrentActor, forbidden, group, invalid, InvalidTransition, resource } from "stoa/plugin"
import { inTransaction, Market, permission } from "../Market.ts"
import { buyerOf, pageOfParty, partyTo, shownToParties } from "../parties/Parties.ts"
import { chooseAll, choosePart } from "../refunds/RefundChoice.ts"
import { settleRefund, writeRefund } from "../refunds/SubOrderRefunds.ts"
import { subOrders } from "../suborders/SubOrder.ts"
import { Answer, Decision, dispute, type DisputeRow, disputes, NewDispute, refundOf } from "./Dispute.ts"

class ReadsOnly extends forbidden("ReadsOnly", "Your role for this vendor may only read.") {}
class PartiesOnly extends forbidden("PartiesOnly", "Only the parties and operators may answer.") {}
class TooManyAnswers extends invalid(
  "TooManyAnswers",
  "note",
  (most: number) => `note cannot be added: a dispute takes at most ${most} answers.`
) {}

const maxEvidence = 100

/*
 * Disputes between buyers and vendors until they are decided (contract, plugins §1.2, §1.9). While one is open
 * nothing of its sub-order is paid out. A dispute's row is locked before the order, the sub-order and the accounts that
 * follow from it; no holder of such a lock waits for a dispute.
 */

/** Opens one for the buyer; 409 when the sub-order has an open one. */
const openDispute = Effect.fn("Disputes.open")(function*(sent: typeof NewDispute.Type) {
  const { db, settings } = yield* Market
  yield* buyerOf(sent.subOrderId)
  const { userId } = yield* CurrentActor
  const deadline = DateTime.add(yield* DateTime.now, { days: settings.vendorResponseDeadlineDays })
  // The unique index lets one open dispute of a sub-order through, of however many requests at once.
  const made = yield* db.table(disputes).insert({
    ...sent,
    openedBy: userId ?? "",
    deadlineAt: DateTime.toDateUtc(deadline)
  })
  yield* db.table(subOrders).update(sent.subOrderId, { onHold: true })
  return made
}, (work) => inTransaction(work))

/** Adds an answer; the vendor's first one hands the dispute to the operators. */
const answerDispute = Effect.fn("Disputes.answer")(function*(id: string, { note, url }: typeof Answer.Type) {
  const rows = (yield* Market).db.table(disputes)
  const found = yield* rows.lock(id)
  const { isAdmin, party, sells } = yield* partyTo(found.subOrderId)
  if (party === "vendor" && !sells && !isAdmin) return yield* new ReadsOnly()
  if (party === "platform" && !isAdmin) return yield* new PartiesOnly()
  if (found.status === "resolved") return yield* InvalidTransition.of("A dispute that is resolved takes no answers.")
  if (found.evidence.length >= maxEvidence) return yield* new TooManyAnswers(maxEvidence)
  const at = DateTime.formatIso(yield* DateTime.now)
  const isFirst = party === "vendor" && found.status === "vendor_response_pending"
  return yield* rows.update(id, {
    status: isFirst ? "platform_review" : found.status,
    evidence: [...found.evidence, { party, type: "response", note, url, at }]
  })
}, (work) => inTransaction(work))

/** What a decision gives back, written in the transaction of the decision; null for nothing. */
const refunded = Effect.fnUntraced(function*({ id, subOrderId }: DisputeRow, decision: typeof Decision.Type) {
  const { refundAmountCents, resolution } = decision
  const wanted = yield* refundOf(resolution, refundAmountCents)
  if (wanted === undefined) return null
  const { orderId } = yield* partyTo(subOrderId)
  return yield* writeRefund(
    { orderId, subOrderId },
    `dispute ${id}: ${resolution}`,
    (left) => wanted === "all" ? chooseAll(left) : choosePart(left, refundAmountCents ?? 0)
  )
})

const decided = Effect.fnUntraced(function*(id: string, decision: typeof Decision.Type) {
  const { db } = yield* Market
  const found = yield* db.use(dispute).lock("resolve", id)
  const refund = yield* refunded(found, decision)
  const after = yield* db.use(dispute).move("resolve", id, {
    resolution: decision.resolution,
    resolutionNotes: decision.notes ?? null,
    refundAmountCents: refund?.amount ?? null,
    refundId: refund?.refundId ?? null
  })
  yield* db.table(subOrders).update(found.subOrderId, { onHold: false })
  return { after, refund }
}, (work) => inTransaction(work))

/**
 * Decides a dispute, lifts the hold on its sub-order, gives back what was decided and announces `dispute.resolved`, all
 * in one transaction (contract, plugins §16.2): once, of however many requests at once; the others get 422
 * INVALID_TRANSITION. What the core refuses to give back leaves the dispute open.
 */
const resolveDispute = Effect.fn("Disputes.resolve")(function*(id: string, decision: typeof Decision.Type) {
  const { after, refund } = yield* decided(id, decision)
  yield* settleRefund(refund)
  return after
})

const g = group("Marketplace disputes", "/marketplace/disputes")
const success = disputes.Row

export const disputeRoutes = [
  ...resource(g, "/", disputes, {
    noun: "dispute",
    read: { auth: true },
    write: { auth: true },
    filters: ["status", "subOrderId"],
    list: {
      summary: "List disputes: one's own, all for operators",
      answer: (call) => pageOfParty(disputes, "party", call)
    },
    get: ({ db, which }) => shownToParties(db.table(disputes).get(which)),
    create: {
      summary: "Open a dispute about a sub-order, as its buyer",
      input: NewDispute,
      answer: ({ input }) => openDispute(input)
    },
    patch: false,
    remove: false,
    machine: dispute,
    moves: { escalate: permission, resolve: false }
  }),
  g.post("/:id/respond", {
    auth: true,
    summary: "Add a response to a dispute, as buyer, vendor or operator",
    input: Answer,
    success
  }).handle(({ input, params }) => answerDispute(params.id, input)),
  g.post("/:id/resolve", {
    permission,
    summary: "Resolve a dispute, giving the customer back what was decided",
    input: Decision,
    success
  }).handle(({ input, params }) => resolveDispute(params.id, input))
]
