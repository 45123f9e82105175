import { Context, DateTime, Effect, Layer } from "effect"
import {
  type Actor,
  Conflict,
  type CoreServices,
  CurrentActor,
  type Forbidden,
  type InvalidTransition,
  type NotFound,
  PluginDatabase,
  PluginHost,
  type RowOf,
  type Unauthorized,
  type Unavailable,
  type ValidationFailed
} from "stoa/plugin"
import { lockOrder } from "./OrderFactsRepo.ts"
import { Reconcile } from "./Reconcile.ts"
import type { SubOrder } from "./SubOrder.ts"
import { sources } from "./SubOrderMachine.ts"
import { cannotBecome, type OfVendor, SubOrders } from "./SubOrders.ts"
import { subOrderLines, subOrders } from "./SubOrderTables.ts"

type Row = RowOf<typeof subOrders>
type CancelError = NotFound | Conflict | ValidationFailed | InvalidTransition | Unauthorized | Forbidden | Unavailable

/** What of an order can be given back for the lines of one vendor. */
type RefundAsked = Parameters<CoreServices["refunds"]["request"]>[1]

/** The end of sub-orders before they are sent (contract, plugins §1.2). */
export class SubOrderCancels extends Context.Service<SubOrderCancels, {
  /**
   * Cancels a sub-order. Where the payment is captured the customer gets the money of its lines back, by a refund that is
   * written in the same transaction, so once; its ledger follows. An order that is not captured yet can be cancelled only
   * as a whole: by the only vendor in it, when nothing in it is the store's own (409 else). 404, 422 INVALID_TRANSITION.
   */
  readonly cancel: (id: string, reason: string, of?: OfVendor) => Effect.Effect<SubOrder, CancelError, CurrentActor>
}>()("stoa/plugins/marketplace/suborders/SubOrderCancels") {
  static readonly layer = Layer.effect(
    SubOrderCancels,
    Effect.gen(function*() {
      const [db, host, reconcile, all] = yield* Effect.all([PluginDatabase, PluginHost, Reconcile, SubOrders])

      /** Everything that is left of its lines, as far as the order has it; undefined when that is nothing. */
      const left = Effect.fnUntraced(function*({ id, orderId }: Row, reason: string) {
        const own = new Set(
          (yield* db.table(subOrderLines).list({ subOrderId: id }, { limit: 100_000 })).map((line) => line.orderLineId)
        )
        const { cap, lines } = yield* host.services.refunds.cap(orderId)
        const open = lines.filter(({ lineItemId }) => own.has(lineItemId))
        const worth = open.reduce((sum, { amount }) => sum + amount, 0)
        // Amounts that went back without naming lines leave less in the order than its lines are worth.
        if (open.length === 0 || (worth > 0 && cap === 0)) return undefined
        const asked: RefundAsked = {
          lines: open.map(({ lineItemId, quantity }) => ({ lineItemId, quantity })),
          reason,
          ...(worth > cap ? { amount: cap } : {})
        }
        return asked
      })

      /** Orders are locked before sub-orders, and before accounts, which the follower of the refund locks. */
      const inTransaction = Effect.fnUntraced(function*(row: Row, reason: string) {
        const order = yield* lockOrder(db, row.orderId)
        if (order?.captured !== true) return { isCaptured: false, orderLines: order?.lines ?? 0, refund: undefined }
        const cancelledAt = DateTime.toDateUtc(yield* DateTime.now)
        const change = { status: "cancelled", cancelledAt, cancellationReason: reason } as const
        yield* db.table(subOrders).update(row.id, change, { status: { in: sources.cancelled } }).pipe(
          Effect.catchTag(
            "NotFound",
            () =>
              Effect.flatMap(
                db.table(subOrders).get(row.id),
                (now) => Effect.fail(cannotBecome(now.status, "cancelled"))
              )
          )
        )
        const asked = yield* left(row, reason)
        const refund = asked === undefined
          ? undefined
          : yield* Effect.updateService(host.services.refunds.request(row.orderId, asked), CurrentActor, following)
        yield* Effect.updateService(reconcile.orders([row.orderId]), CurrentActor, following)
        return { isCaptured: true, orderLines: order.lines, refund }
      }, db.transaction)

      const cancelOrder = Effect.fnUntraced(function*({ id, orderId }: Row, reason: string, orderLines: number) {
        if (orderLines > (yield* db.table(subOrderLines).count({ subOrderId: id }))) {
          return yield* Conflict.of(
            "The payment of this order is not captured yet: only the whole order can be cancelled, by the store."
          )
        }
        // The one change that the request makes, so it bears its mark.
        yield* Effect.updateService(
          host.services.orders.change(orderId, { status: "cancelled", reason }),
          CurrentActor,
          permitted
        )
      })

      const cancel = Effect.fn("SubOrderCancels.cancel")(function*(id: string, reason: string, of: OfVendor = {}) {
        yield* all.get(id, of)
        const row = yield* db.table(subOrders).get(id)
        if (!sources.cancelled.includes(row.status)) return yield* cannotBecome(row.status, "cancelled")
        const { isCaptured, orderLines, refund } = yield* inTransaction(row, reason)
        if (!isCaptured) yield* cancelOrder(row, reason, orderLines)
        if (refund !== undefined && !refund.settled) {
          // What is not settled in a moment settles by itself: the refund is written.
          const { organizationId } = yield* CurrentActor
          yield* host.services.refunds.settle({ refundId: refund.refundId, organizationId })
        }
        return yield* all.get(id, of)
      })

      return { cancel }
    })
  )
}

/** Whoever cancels a sub-order gives back its money, for which he needs no permission of the core's. */
const permitted = (actor: Actor): Actor => ({ ...actor, permissions: [...actor.permissions, "orders:update"] })

/** The cancellation bears the mark of the request; what follows from it does not. */
const following = ({ workId: _, ...actor }: Actor): Actor => permitted(actor)
