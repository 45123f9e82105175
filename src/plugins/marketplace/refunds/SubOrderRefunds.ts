import { Effect, type Result } from "effect"
import { type Actor, CurrentActor, type OrderId, type RefundId } from "stoa/plugin"
import { Market } from "../Market.ts"
import { subOrderLines } from "../suborders/SubOrder.ts"
import { lockOrder } from "./OrderLockRepo.ts"
import type { Chosen, Left, LeftLine } from "./RefundChoice.ts"

/** A sub-order and its order. */
export interface OfOrder {
  readonly subOrderId: string
  readonly orderId: OrderId
}

/*
 * Money of a sub-order that goes back to the customer, by the core's refund engine. It is written in the transaction of
 * the decision that it follows from, which happens once; so does the refund.
 */

/** The actor with the core's permission for what follows from a decision about a sub-order. */
export const permitted = (actor: Actor): Actor => ({ ...actor, permissions: [...actor.permissions, "orders:update"] })

/** The lines of an order that are of a sub-order. */
export const ownLines = Effect.fnUntraced(
  function*<Line extends Pick<LeftLine, "lineItemId">>(subOrderId: string, lines: ReadonlyArray<Line>) {
    const own = yield* (yield* Market).db.table(subOrderLines).list({ subOrderId })
    const entities = new Map(own.map(({ entityId, orderLineId }) => [orderLineId, entityId]))
    return lines.flatMap((line) => {
      const entityId = entities.get(line.lineItemId)
      return entityId === undefined ? [] : [{ ...line, entityId }]
    })
  }
)

/** What of a sub-order can still be given back. */
export const leftOf = Effect.fn("SubOrderRefunds.left")(function*({ orderId, subOrderId }: OfOrder) {
  const { cap, lines } = yield* (yield* Market).host.services.refunds.cap(orderId)
  return { cap, lines: yield* ownLines(subOrderId, lines) }
})

/**
 * Writes the refund that `choose` makes of what is left, with the order locked; inside of the caller's transaction.
 * The actor needs no permission for orders: the caller has checked the right to decide.
 */
export const writeRefund = Effect.fn("SubOrderRefunds.write")(
  function*<E>(of: OfOrder, reason: string, choose: (left: Left) => Result.Result<Chosen, E>) {
    const { db, host } = yield* Market
    const { refunds } = host.services
    yield* db.use(lockOrder)(of.orderId)
    const chosen = yield* Effect.fromResult(choose(yield* leftOf(of)))
    const requested = refunds.request(of.orderId, { ...chosen, reason })
    const { refundId } = yield* Effect.updateService(requested, CurrentActor, permitted)
    const { amount } = yield* refunds.get(refundId)
    return { refundId, amount }
  }
)

/** After the commit: has the money moved, and waits a moment for it. What is not settled settles by itself later. */
export const settleRefund = Effect.fn("SubOrderRefunds.settle")(
  function*(written: { readonly refundId: RefundId | null } | null) {
    const refundId = written?.refundId ?? null
    if (refundId === null) return
    const { organizationId } = yield* CurrentActor
    yield* (yield* Market).host.services.refunds.settle({ refundId, organizationId })
  }
)
