import { Context, DateTime, Effect, Layer } from "effect"
import { conflict, CurrentActor, PluginDatabase, PluginHost, type RowOf } from "stoa/plugin"
import { lockOrder } from "../refunds/OrderLockRepo.ts"
import { chooseAll, isSpent } from "../refunds/RefundChoice.ts"
import { permitted, SubOrderRefunds } from "../refunds/SubOrderRefunds.ts"
import { Reconcile } from "./Reconcile.ts"
import { sources } from "./SubOrderMachine.ts"
import { cannotBecome } from "./SubOrderMoves.ts"
import { type OfVendor, SubOrders } from "./SubOrders.ts"
import { subOrderLines, subOrders } from "./SubOrderTables.ts"

class NotCapturedYet extends conflict(
  "NotCapturedYet",
  "The payment of this order is not captured yet: only the whole order can be cancelled, by the store."
) {}

type Row = RowOf<typeof subOrders>

/** The end of sub-orders before they are sent (contract, plugins §1.2). */
export class SubOrderCancels
  extends Context.Service<SubOrderCancels>()("stoa/plugins/marketplace/suborders/SubOrderCancels", {
    make: Effect.gen(function*() {
      const [db, host, refunds] = yield* Effect.all([PluginDatabase, PluginHost, SubOrderRefunds])
      const [reconcile, all] = yield* Effect.all([Reconcile, SubOrders])

      /** Orders are locked before sub-orders, and before accounts, which the refund's projection locks. */
      const inTransaction = Effect.fnUntraced(function*(row: Row, reason: string) {
        const order = yield* lockOrder(db, row.orderId)
        if (order?.captured !== true) return { isCaptured: false, orderLines: order?.lines ?? 0, refund: null }
        const cancelledAt = DateTime.toDateUtc(yield* DateTime.now)
        const change = { status: "cancelled", cancelledAt, cancellationReason: reason } as const
        yield* db.table(subOrders).update(row.id, change, { status: { in: sources.cancelled } })
        const of = { subOrderId: row.id, orderId: row.orderId }
        const isPaid = !isSpent(yield* refunds.left(of))
        const refund = isPaid ? yield* refunds.write(of, reason, chooseAll) : null
        yield* reconcile.changed([row.orderId])
        return { isCaptured: true, orderLines: order.lines, refund }
      }, db.transaction)

      const cancelOrder = Effect.fnUntraced(function*({ id, orderId }: Row, reason: string, orderLines: number) {
        if (orderLines > (yield* db.table(subOrderLines).count({ subOrderId: id }))) {
          return yield* new NotCapturedYet()
        }
        yield* Effect.updateService(
          host.services.orders.change(orderId, { status: "cancelled", reason }),
          CurrentActor,
          permitted
        )
      })

      /**
       * Cancels a sub-order. Where the payment is captured the customer gets the money of its lines back, by a refund that is
       * written in the same transaction, so once; its ledger follows. An order that is not captured yet can be cancelled only
       * as a whole: by the only vendor in it, when nothing in it is the store's own (409 else). 404, 422 INVALID_TRANSITION.
       */
      const cancel = Effect.fn("SubOrderCancels.cancel")(function*(id: string, reason: string, of: OfVendor = {}) {
        yield* all.get(id, of)
        const row = yield* db.table(subOrders).get(id)
        if (!sources.cancelled.includes(row.status)) return yield* cannotBecome(row.status, "cancelled")
        const { isCaptured, orderLines, refund } = yield* inTransaction(row, reason)
        if (!isCaptured) yield* cancelOrder(row, reason, orderLines)
        yield* refunds.settle(refund)
        return yield* all.get(id, of)
      })

      return { cancel }
    })
  })
{
  static readonly layer = Layer.effect(SubOrderCancels, SubOrderCancels.make)
}
