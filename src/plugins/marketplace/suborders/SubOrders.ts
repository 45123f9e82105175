import { DateTime, Effect } from "effect"
import {
  beforeHook,
  conflict,
  CurrentActor,
  document,
  type DocumentRow,
  HookRefusal,
  InvalidTransition,
  type RowOf,
  type View,
  type Which
} from "stoa/plugin"
import { inTransaction, Market } from "../Market.ts"
import { lockOrder } from "../refunds/OrderLockRepo.ts"
import { chooseAll, isSpent } from "../refunds/RefundChoice.ts"
import { leftOf, permitted, settleRefund, writeRefund } from "../refunds/SubOrderRefunds.ts"
import { reconcile } from "./Reconcile.ts"
import { SubOrder, subOrderLines, subOrders, type SubOrderStatus } from "./SubOrder.ts"

const documents = document({ head: subOrders, lines: subOrderLines })

/** A row and its lines as the API shows them. */
export const toSubOrder = (
  { head, lines }: DocumentRow<typeof subOrders, typeof subOrderLines>
): SubOrder => ({ ...head, lineItems: lines })

/** A sub-order; 404, also for another vendor's where it has to be a vendor's. */
export const readSubOrder = (which: Which<typeof subOrders>) =>
  Market.use(({ db }) => Effect.map(db.use(documents).get(which), toSubOrder))

export const subOrderView: View<typeof subOrders, SubOrder> = {
  success: SubOrder,
  show: (rows, { db }) => Effect.map(db.use(documents).of(rows), (all) => all.map(toSubOrder))
}

/**
 * How a vendor moves its part of an order (contract, plugins §1.2): `processing` may be left out. What was handed over to
 * a carrier cannot be cancelled any more, and what is delivered or cancelled stays so.
 */
export const sources: { readonly [To in Exclude<SubOrderStatus, "pending">]: ReadonlyArray<SubOrderStatus> } = {
  confirmed: ["pending"],
  processing: ["confirmed"],
  shipped: ["confirmed", "processing"],
  delivered: ["shipped"],
  cancelled: ["pending", "confirmed", "processing"]
}

/** What a status cannot become. */
export const cannotBecome = (from: SubOrderStatus, to: SubOrderStatus) =>
  InvalidTransition.of(`A sub-order that is ${from} cannot become ${to}.`)

class NotCapturedYet extends conflict(
  "NotCapturedYet",
  "The payment of this order is not captured yet: only the whole order can be cancelled, by the store."
) {}

type Row = RowOf<typeof subOrders>

/** Orders are locked before sub-orders, and before accounts, which the refund's projection locks. */
const cancelled = Effect.fnUntraced(function*({ id: subOrderId, orderId }: Row, reason: string) {
  const { db } = yield* Market
  const order = yield* db.use(lockOrder)(orderId)
  if (order?.captured !== true) return { isCaptured: false, orderLines: order?.lines ?? 0, refund: null }
  const cancelledAt = yield* DateTime.nowAsDate
  const change = { status: "cancelled", cancelledAt, cancellationReason: reason } as const
  yield* db.table(subOrders).update(subOrderId, change, { status: { in: sources.cancelled } })
  const of = { subOrderId, orderId }
  const refund = isSpent(yield* leftOf(of)) ? null : yield* writeRefund(of, reason, chooseAll)
  yield* reconcile([orderId])
  return { isCaptured: true, orderLines: order.lines, refund }
}, (work) => inTransaction(work))

const cancelOrder = Effect.fnUntraced(function*({ id, orderId }: Row, reason: string, orderLines: number) {
  const { db, host } = yield* Market
  if (orderLines > (yield* db.table(subOrderLines).count({ subOrderId: id }))) return yield* new NotCapturedYet()
  const change = host.services.orders.change(orderId, { status: "cancelled", reason })
  yield* Effect.updateService(change, CurrentActor, permitted)
})

/**
 * Cancels a sub-order. Where the payment is captured the customer gets the money of its lines back, by a refund that is
 * written in the same transaction, so once; its ledger follows. An order that is not captured yet can be cancelled only
 * as a whole: by the only vendor in it, when nothing in it is the store's own (409 else). 404, 422 INVALID_TRANSITION.
 */
export const cancelSubOrder = Effect.fn("SubOrders.cancel")(
  function*(which: Which<typeof subOrders>, reason: string) {
    const { db } = yield* Market
    const row = yield* db.table(subOrders).get(which)
    if (!sources.cancelled.includes(row.status)) return yield* cannotBecome(row.status, "cancelled")
    const { isCaptured, orderLines, refund } = yield* cancelled(row, reason)
    if (!isCaptured) yield* cancelOrder(row, reason, orderLines)
    yield* settleRefund(refund)
    return yield* readSubOrder(which)
  }
)

/** An order is fulfilled when every vendor has delivered its part, or is out of it (contract, plugins §1.3). */
export const subOrderHooks = [
  beforeHook("orders.beforeStatusChange", ({ context: { db }, data }) =>
    Effect.gen(function*() {
      if (data.newStatus !== "fulfilled") return {}
      const open = yield* db.table(subOrders).count({
        orderId: data.orderId,
        status: { in: ["pending", "confirmed", "processing", "shipped"] }
      })
      // What is on its way is not there yet: the order waits for it.
      if (open > 0 && data.source === "fulfillment") return { newStatus: "partially_fulfilled" }
      if (open > 0) {
        return yield* Effect.fail(new HookRefusal(`${open} of the order's vendors have not delivered their part yet.`))
      }
      return {}
    }))
]
