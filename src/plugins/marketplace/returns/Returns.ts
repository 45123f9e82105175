import { DateTime, Effect, Schema } from "effect"
import {
  Amount,
  type ChangeOf,
  type CurrentActor,
  group,
  invalid,
  listOf,
  resource,
  type RowOf,
  Text
} from "stoa/plugin"
import { said } from "../disputes/Dispute.ts"
import { inTransaction, Market } from "../Market.ts"
import { buyerOf, pageOfParty, sellerOf, shownToParties, type Standing, vendorOf } from "../parties/Parties.ts"
import { portal, sellers } from "../parties/VendorPortal.ts"
import { lockOrder } from "../refunds/OrderLockRepo.ts"
import { chooseUnits, maxFor, unitsOf } from "../refunds/RefundChoice.ts"
import { leftOf, settleRefund, writeRefund } from "../refunds/SubOrderRefunds.ts"
import { subOrders } from "../suborders/SubOrder.ts"
import { approveCore, concludeCore, heldBy, rejectCore, returnableOf } from "./CoreReturns.ts"
import { mayBeReturned, NewReturn, returnedUnits, returnMachine, returns } from "./Return.ts"
import { claimedUnits } from "./ReturnRepo.ts"

class MoreThanGoods extends invalid(
  "MoreThanGoods",
  "refundAmountCents",
  (most: number) => `refundAmountCents is more than the ${most} that the goods cost.`
) {}

/*
 * Goods on their way back, from the request to the refund (contract, plugins §1.2, §1.6, §1.9): each step by whom it is for.
 */

const askedUnits = Effect.fnUntraced(
  function*({ lineItems, subOrderId }: typeof NewReturn.Type, orderId: Standing["orderId"]) {
    const { db } = yield* Market
    const claimed = yield* db.use(claimedUnits)(subOrderId)
    const left = yield* leftOf({ orderId, subOrderId })
    const lines = yield* returnableOf(orderId, left)
    const asked = yield* returnedUnits(lineItems, lines, claimed)
    return { asked, lines: unitsOf({ ...left, lines }, asked) }
  }
)

/**
 * Asks for a return, as the buyer: 422 unless the sub-order was delivered within the window, and for units that it does
 * not have, that were given back or that another return asks for.
 */
const requestReturn = Effect.fn("Returns.request")(function*(sent: typeof NewReturn.Type) {
  const { db, host, settings } = yield* Market
  const { customerId, orderId } = yield* buyerOf(sent.subOrderId)
  yield* db.use(lockOrder)(orderId)
  // Of two concurrent returns of the same units the second one sees the first.
  const subOrder = yield* db.table(subOrders).lock(sent.subOrderId)
  const now = yield* DateTime.now
  yield* mayBeReturned(subOrder, settings.returnWindowDays, DateTime.toDateUtc(now))
  const { asked, lines } = yield* askedUnits(sent, orderId)
  const core = yield* host.services.returns.request(orderId, {
    lines: lines.map((line) => ({ ...line, reason: sent.reason }))
  })
  return yield* db.table(returns).insert({
    ...sent,
    customerId,
    coreReturnId: core.id,
    lineItems: asked,
    deadlineAt: DateTime.toDateUtc(DateTime.add(now, { days: settings.vendorReturnResponseDays }))
  })
}, (work) => inTransaction(work))

type Admitted<E> = (subOrderId: string) => Effect.Effect<Standing, E, CurrentActor | Market>

/** The sub-order of a return and its order, for whom `admitted` lets in; 404. */
const admittedTo = Effect.fnUntraced(function*<E>(id: string, admitted: Admitted<E>) {
  const { subOrderId } = yield* (yield* Market).db.table(returns).get(id)
  const { orderId } = yield* admitted(subOrderId)
  return { orderId, subOrderId }
})

/** A step that changes a return alone: 422 INVALID_TRANSITION from a state that it does not begin at. */
const step = <E>(move: "shipBack" | "receive", admitted: Admitted<E>) =>
  Effect.fn(`Returns.${move}`)(function*(id: string, change: ChangeOf<typeof returns> = {}) {
    yield* admittedTo(id, admitted)
    return yield* (yield* Market).db.use(returnMachine).move(move, id, change)
  })

/** As the vendor. */
const rejectReturn = Effect.fn("Returns.reject")(function*(id: string, vendorNotes: string | null) {
  const { orderId } = yield* admittedTo(id, vendorOf)
  const rejected = yield* (yield* Market).db.use(returnMachine).move("reject", id, { vendorNotes })
  yield* rejectCore(rejected, orderId, vendorNotes || "The vendor does not take the goods back.")
  return rejected
}, (work) => inTransaction(work))

/** As the buyer. */
const shipBack = step("shipBack", buyerOf)

/** As the vendor, or an operator. */
const receiveReturn = step("receive", sellerOf)

/** As the vendor; an amount above what the goods have left of their price is 422. Null: what they cost. */
const approveReturn = Effect.fn("Returns.approve")(function*(id: string, refundAmountCents: number | null) {
  const { db } = yield* Market
  const of = yield* admittedTo(id, vendorOf)
  const { lineItems } = yield* db.use(returnMachine).lock("approve", id)
  const most = maxFor(yield* leftOf(of), lineItems ?? [])
  if (refundAmountCents !== null && refundAmountCents > most) return yield* new MoreThanGoods(most)
  const approved = yield* db.use(returnMachine).move("approve", id, { refundAmountCents })
  yield* approveCore(approved, of.orderId)
  return approved
}, (work) => inTransaction(work))

/** Approves a return that its vendor left unanswered, in the transaction of the caller, who has locked its row. */
export const approveDue = Effect.fn("Returns.approveDue")(function*({ id, subOrderId }: RowOf<typeof returns>) {
  const { db } = yield* Market
  const approved = yield* db.use(returnMachine).move("approve", id)
  yield* approveCore(approved, (yield* db.table(subOrders).get(subOrderId)).orderId)
})

const refunded = Effect.fnUntraced(function*(id: string) {
  const { db } = yield* Market
  const of = yield* admittedTo(id, sellerOf)
  // Its row is locked before the order, the sub-order and the accounts that follow from it.
  const row = yield* db.use(returnMachine).lock("refund", id)
  const { lineItems, reason, refundAmountCents: agreed } = row
  const held = yield* heldBy(row, of.orderId)
  const refund = agreed === 0
    ? null
    : yield* writeRefund(of, `return ${id}: ${reason}`, (left) => chooseUnits(held(left), lineItems ?? [], agreed))
  yield* concludeCore(row, of.orderId, refund?.refundId ?? null)
  const after = yield* db.use(returnMachine).move("refund", id, {
    refundId: refund?.refundId ?? null,
    refundAmountCents: refund?.amount ?? 0
  })
  return { after, refund }
}, (work) => inTransaction(work))

/**
 * As the vendor or an operator, once the goods are there: gives back what was agreed, or what they cost, in the
 * transaction of the change (contract, plugins §16.2); once, of however many requests at once. What was agreed to be 0 moves
 * no money.
 */
const refundReturn = Effect.fn("Returns.refund")(function*(id: string) {
  const { after, refund } = yield* refunded(id)
  yield* settleRefund(refund)
  return after
})

const g = group("Marketplace returns", "/marketplace")
const own = { ...sellers, success: returns.Row }
const party = { auth: true, success: returns.Row }

export const returnRoutes = [
  ...resource(g, "/returns", returns, {
    noun: "return",
    read: { auth: true },
    write: { auth: true },
    filters: ["status", "subOrderId"],
    list: {
      summary: "List returns: one's own, all for operators",
      answer: (call) => pageOfParty(returns, "party", call)
    },
    get: ({ db, which }) => shownToParties(db.table(returns).get(which)),
    create: {
      summary: "Ask to send goods of a sub-order back, as its buyer",
      input: NewReturn,
      answer: ({ input }) => requestReturn(input)
    },
    patch: false,
    remove: false
  }),
  g.post("/returns/:id/ship-back", {
    ...party,
    summary: "Say that approved goods are on their way back, as their buyer",
    input: Schema.Struct({ trackingNumber: Text })
  }).handle(({ input, params }) => shipBack(params.id, input)),
  g.post("/returns/:id/receive", { ...party, summary: "Say that goods came back, as their vendor or an operator" })
    .handle(({ params }) => receiveReturn(params.id)),
  g.post("/returns/:id/refund", {
    ...party,
    summary: "Give the customer back what the goods cost or what was agreed, as their vendor or an operator"
  }).handle(({ params }) => refundReturn(params.id)),
  listOf(g, "/vendor/me/returns", returns, {
    ...portal,
    summary: "List returns of the own vendor",
    filters: ["status", "subOrderId"],
    answer: (call) => pageOfParty(returns, "seller", call)
  }),
  g.post("/vendor/me/returns/:id/approve", {
    ...own,
    summary: "Approve a return",
    description: "What the vendor offers for it; absent: what the goods cost. 0: it is taken back for nothing.",
    input: Schema.Struct({ refundAmountCents: Schema.optional(Amount) })
  }).handle(({ input, params }) => approveReturn(params.id, input.refundAmountCents ?? null)),
  g.post("/vendor/me/returns/:id/reject", {
    ...own,
    summary: "Reject a return",
    input: Schema.Struct({ notes: Schema.optional(said) })
  }).handle(({ input, params }) => rejectReturn(params.id, input.notes ?? null))
]
