import { Context, Effect, Layer, type Result } from "effect"
import { type Actor, CurrentActor, type OrderId, PluginDatabase, PluginHost, type RefundId } from "stoa/plugin"
import { subOrderLines } from "../suborders/SubOrderTables.ts"
import { lockOrder } from "./OrderLockRepo.ts"
import type { Chosen, Left } from "./RefundChoice.ts"

/** A sub-order and its order. */
export interface OfOrder {
  readonly subOrderId: string
  readonly orderId: OrderId
}

/** A refund that was written; its money moves when it is settled. */
export interface Written {
  readonly refundId: RefundId
  /** Minor units of the order's currency. */
  readonly amount: number
  readonly settled: boolean
}

/**
 * Money of a sub-order that goes back to the customer, by the core's refund engine. It is written in the transaction of
 * the decision that it follows from, which happens once; so does the refund.
 */
export class SubOrderRefunds
  extends Context.Service<SubOrderRefunds>()("stoa/plugins/marketplace/refunds/SubOrderRefunds", {
    make: Effect.gen(function*() {
      const db = yield* PluginDatabase
      const host = yield* PluginHost

      /** What of a sub-order can still be given back. */
      const left = Effect.fn("SubOrderRefunds.left")(function*({ orderId, subOrderId }: OfOrder) {
        const { cap, lines } = yield* host.services.refunds.cap(orderId)
        const own = new Map(
          (yield* db.table(subOrderLines).list({ subOrderId }, { limit: 100_000 })).map((
            line
          ) => [line.orderLineId, line.entityId])
        )
        return {
          cap,
          lines: lines.flatMap(({ amount, lineItemId, quantity }) => {
            const entityId = own.get(lineItemId)
            return entityId === undefined ? [] : [{ orderLineId: lineItemId, entityId, quantity, amount }]
          })
        }
      })

      /**
       * Writes the refund that `choose` makes of what is left, with the order locked; inside of the caller's transaction.
       * The actor needs no permission for orders: the caller has checked the right to decide.
       */
      const write = Effect.fn("SubOrderRefunds.write")(
        function*<E>(of: OfOrder, reason: string, choose: (left: Left) => Result.Result<Chosen, E>) {
          yield* lockOrder(db, of.orderId)
          const chosen = yield* Effect.fromResult(choose(yield* left(of)))
          const { refundId, settled } = yield* Effect.updateService(
            host.services.refunds.request(of.orderId, { ...chosen, reason }),
            CurrentActor,
            permitted
          )
          const { amount } = yield* host.services.refunds.get(refundId)
          return { refundId, settled, amount }
        }
      )

      /** After the commit: has the money moved, and waits a moment for it. What is not settled settles by itself later. */
      const settle = Effect.fn("SubOrderRefunds.settle")(function*(written: Written | null) {
        if (written === null || written.settled) return
        const { organizationId } = yield* CurrentActor
        yield* host.services.refunds.settle({ refundId: written.refundId, organizationId })
      })

      return { left, write, settle }
    })
  })
{
  static readonly layer = Layer.effect(SubOrderRefunds, SubOrderRefunds.make)
}

/** The actor with the core's permission for what follows from a decision about a sub-order. */
export const permitted = (actor: Actor): Actor => ({ ...actor, permissions: [...actor.permissions, "orders:update"] })
