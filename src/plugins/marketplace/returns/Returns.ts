import { DateTime, Effect } from "effect"
import { type ChangeOf, type CurrentActor, invalid, type OrderId } from "stoa/plugin"
import { inTransaction, Market } from "../Market.ts"
import { buyerOf, partyTo, sellerOf, type Standing, vendorOf } from "../parties/Parties.ts"
import { chooseUnits, maxFor } from "../refunds/RefundChoice.ts"
import { leftOf, settleRefund, writeRefund } from "../refunds/SubOrderRefunds.ts"
import { subOrders } from "../suborders/SubOrder.ts"
import { mayBeReturned, type NewReturn, returnedUnits, returnMachine, returns } from "./Return.ts"
import { claimedUnits } from "./ReturnRepo.ts"

class MoreThanGoods extends invalid(
  "MoreThanGoods",
  "refundAmountCents",
  (most: number) => `is more than the ${most} that the goods cost`
) {}

/*
 * Goods on their way back, from the request to the refund (contract, plugins §1.2, §1.6, §1.9): each step by whom it is for.
 */

const unitsOf = Effect.fnUntraced(function*({ lineItems, subOrderId }: typeof NewReturn.Type, orderId: OrderId) {
  const { db } = yield* Market
  const claimed = yield* claimedUnits(db, subOrderId)
  const { lines } = yield* leftOf({ orderId, subOrderId })
  return yield* returnedUnits(lineItems, lines, claimed)
})

/**
 * Asks for a return, as the buyer: 422 unless the sub-order was delivered within the window, and for units that it does
 * not have, that were given back or that another return asks for.
 */
export const requestReturn = Effect.fn("Returns.request")(function*(sent: typeof NewReturn.Type) {
  const { db, settings } = yield* Market
  const { customerId, orderId } = yield* buyerOf(sent.subOrderId)
  // Of two concurrent returns of the same units the second one sees the first.
  const subOrder = yield* db.table(subOrders).lock(sent.subOrderId)
  const now = yield* DateTime.now
  yield* mayBeReturned(subOrder, settings.returnWindowDays, DateTime.toDateUtc(now))
  return yield* db.table(returns).insert({
    ...sent,
    customerId,
    lineItems: yield* unitsOf(sent, orderId),
    deadlineAt: DateTime.toDateUtc(DateTime.add(now, { days: settings.vendorReturnResponseDays }))
  })
}, (work) => inTransaction(work))

/** One of them; 404. */
export const readReturn = Effect.fn("Returns.get")(function*(id: string) {
  const found = yield* (yield* Market).db.table(returns).get(id)
  yield* partyTo(found.subOrderId)
  return found
})

type Admitted<E> = (subOrderId: string) => Effect.Effect<Standing, E, CurrentActor | Market>

/** The sub-order of a return and its order, for whom `admitted` lets in; 404. */
const admittedTo = Effect.fnUntraced(function*<E>(id: string, admitted: Admitted<E>) {
  const { subOrderId } = yield* (yield* Market).db.table(returns).get(id)
  const { orderId } = yield* admitted(subOrderId)
  return { orderId, subOrderId }
})

/** A step that changes a return alone: 422 INVALID_TRANSITION from a state that it does not begin at. */
const step = <E>(move: "reject" | "shipBack" | "receive", admitted: Admitted<E>) =>
  Effect.fn(`Returns.${move}`)(function*(id: string, change: ChangeOf<typeof returns> = {}) {
    yield* admittedTo(id, admitted)
    return yield* returnMachine.move((yield* Market).db, move, id, change)
  })

/** As the vendor. */
export const rejectReturn = step("reject", vendorOf)

/** As the buyer. */
export const shipBack = step("shipBack", buyerOf)

/** As the vendor, or an operator. */
export const receiveReturn = step("receive", sellerOf)

/** As the vendor; an amount above what the goods have left of their price is 422. Null: what they cost. */
export const approveReturn = Effect.fn("Returns.approve")(function*(id: string, refundAmountCents: number | null) {
  const { db } = yield* Market
  const of = yield* admittedTo(id, vendorOf)
  const { lineItems } = yield* returnMachine.lock(db, "approve", id)
  const most = maxFor(yield* leftOf(of), lineItems ?? [])
  if (refundAmountCents !== null && refundAmountCents > most) return yield* new MoreThanGoods(most)
  return yield* returnMachine.move(db, "approve", id, { refundAmountCents })
}, (work) => inTransaction(work))

const refunded = Effect.fnUntraced(function*(id: string) {
  const { db } = yield* Market
  const of = yield* admittedTo(id, sellerOf)
  // Its row is locked before the order, the sub-order and the accounts that follow from it.
  const { lineItems, reason, refundAmountCents: agreed } = yield* returnMachine.lock(db, "refund", id)
  const refund = agreed === 0
    ? null
    : yield* writeRefund(of, `return ${id}: ${reason}`, (left) => chooseUnits(left, lineItems ?? [], agreed))
  const after = yield* returnMachine.move(db, "refund", id, {
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
export const refundReturn = Effect.fn("Returns.refund")(function*(id: string) {
  const { after, refund } = yield* refunded(id)
  yield* settleRefund(refund)
  return after
})
