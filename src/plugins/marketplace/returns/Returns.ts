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
import { leftOf, type OfOrder, ownLines, settleRefund, writeRefund } from "../refunds/SubOrderRefunds.ts"
import { subOrders } from "../suborders/SubOrder.ts"
import { followCore, receiveCore, withCore } from "./CoreReturns.ts"
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
    const { db, host } = yield* Market
    const claimed = yield* db.use(claimedUnits)(subOrderId)
    const lines = yield* ownLines(subOrderId, yield* host.services.returns.returnable(orderId))
    const asked = yield* returnedUnits(lineItems, lines, claimed)
    return { asked, lines: unitsOf(lines, asked) }
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

type Row = RowOf<typeof returns>

/**
 * A step of a return for whom `partyOf` lets in: `work` does the same step of the core's and says what the row becomes, in
 * one transaction. 404; 422 INVALID_TRANSITION from a state that the step does not begin at.
 */
const step = Effect.fn("Returns.step")(function*<E, E2>(
  move: keyof typeof returnMachine.moves,
  partyOf: (subOrderId: string) => Effect.Effect<Pick<Standing, "orderId">, E, CurrentActor | Market>,
  id: string,
  work: (row: Row, of: OfOrder) => Effect.Effect<ChangeOf<typeof returns>, E2, CurrentActor | Market>
) {
  const { db } = yield* Market
  const { subOrderId } = yield* db.table(returns).get(id)
  const { orderId } = yield* partyOf(subOrderId)
  // Its row is locked before the order, the sub-order and the accounts that follow from it.
  yield* followCore(id, orderId)
  const change = yield* work(yield* db.use(returnMachine).lock(move, id), { orderId, subOrderId })
  return yield* db.use(returnMachine).move(move, id, change)
}, (work) => inTransaction(work))

const approveCore = (row: Row, { orderId }: OfOrder) => withCore(row, (core, id) => core.approve(orderId, id, {}))

/** An amount above what the goods have left of their price is 422. Null: what they cost. */
const approveReturn = (id: string, refundAmountCents: number | null) =>
  step("approve", vendorOf, id, (row, of) =>
    Effect.gen(function*() {
      const most = maxFor(yield* leftOf(of), row.lineItems ?? [])
      if (refundAmountCents !== null && refundAmountCents > most) return yield* new MoreThanGoods(most)
      yield* approveCore(row, of)
      return { refundAmountCents }
    }))

/** Approves a return that its vendor left unanswered, in the transaction of the caller, who has locked its row. */
export const approveDue = ({ id }: Row) =>
  step(
    "approve",
    (of) => Market.use(({ db }) => db.table(subOrders).get(of)),
    id,
    (row, of) => Effect.as(approveCore(row, of), {})
  )

const rejectReturn = (id: string, vendorNotes: string | null) =>
  step("reject", vendorOf, id, (row, { orderId }) => {
    const reason = vendorNotes || "The vendor does not take the goods back."
    return Effect.as(withCore(row, (core, coreId) => core.reject(orderId, coreId, reason)), { vendorNotes })
  })

/** The refund of what came back, or of what was agreed. */
const refundOf = Effect.fnUntraced(function*(row: Row, of: OfOrder) {
  const { refunds } = (yield* Market).host.services
  const { coreReturnId, id, lineItems, reason, refundAmountCents: agreed } = row
  const core = yield* withCore(row, (core, id) => core.requestRefund(of.orderId, id, { amount: agreed ?? undefined }))
  const refund = agreed === 0 || coreReturnId !== null
    ? core
    : yield* writeRefund(of, `return ${id}: ${reason}`, (left) => chooseUnits(left, lineItems ?? [], agreed))
  const refundId = refund?.refundId ?? null
  return { refundId, refundAmountCents: refundId === null ? 0 : (yield* refunds.get(refundId)).amount }
})

/**
 * Once the goods are there: gives back what was agreed, or what they cost, in the transaction of the change (contract,
 * plugins §16.2); once, of however many requests at once. What was agreed to be 0 moves no money.
 */
const refundReturn = Effect.fnUntraced(function*(id: string) {
  const after = yield* step("refund", sellerOf, id, refundOf)
  yield* settleRefund(after)
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
      summary: "Request a return of goods of a sub-order, as its buyer",
      input: NewReturn,
      answer: ({ input }) => requestReturn(input)
    },
    patch: false,
    remove: false
  }),
  g.post("/returns/:id/ship-back", {
    ...party,
    summary: "Mark a return as shipped back, as its buyer",
    input: Schema.Struct({ trackingNumber: Text })
  }).handle(({ input, params }) => step("shipBack", buyerOf, params.id, () => Effect.succeed(input))),
  g.post("/returns/:id/receive", { ...party, summary: "Mark a return as received, as its vendor or an operator" })
    .handle(({ params }) => step("receive", sellerOf, params.id, receiveCore)),
  g.post("/returns/:id/refund", {
    ...party,
    summary: "Refund a return, as its vendor or an operator"
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
    input: Schema.Struct({ refundAmountCents: Schema.optional(Amount) }),
    strict: true
  }).handle(({ input, params }) => approveReturn(params.id, input.refundAmountCents ?? null)),
  g.post("/vendor/me/returns/:id/reject", {
    ...own,
    summary: "Reject a return",
    input: Schema.Struct({ notes: Schema.optional(said) })
  }).handle(({ input, params }) => rejectReturn(params.id, input.notes ?? null))
]
