import { Context, Effect, Layer } from "effect"
import { CurrentActor, systemActor } from "../../domain/access/Actor.ts"
import { Orders } from "../../domain/orders/Orders.ts"
import { OrderStatusRepo } from "../../domain/orders/OrderStatusRepo.ts"
import { RefundSettlement } from "./RefundSettlement.ts"

/** An order that was not paid in time. */
export interface UnpaidOrder {
  readonly orderId: string
  readonly organizationId: string
}

/** Cancels orders whose payment deadline has passed. */
export class UnpaidCancellation extends Context.Service<UnpaidCancellation, {
  /**
   * Cancels orders as a manual cancellation does: hooks, history, event, stock, promotion usage and cart, and a void of
   * the authorization. Only from `pending` and only before any capture: an order paid or confirmed at that moment
   * stays. A failed cancellation is logged and does not block the others. Returns how many were cancelled.
   */
  readonly cancelAll: (orders: ReadonlyArray<UnpaidOrder>, reason: string) => Effect.Effect<number>
}>()("stoa/workflows/payments/UnpaidCancellation") {
  static readonly layer = Layer.effect(
    UnpaidCancellation,
    Effect.gen(function*() {
      const orders = yield* Orders
      const statuses = yield* OrderStatusRepo
      const settlement = yield* RefundSettlement

      const cancel = ({ orderId, organizationId }: UnpaidOrder, reason: string) =>
        // As the provider's events do.
        orders.changeStatus(
          orderId,
          { status: "cancelled", source: "payment", reason, unpaid: true },
          statuses.transition
        ).pipe(
          Effect.tap(({ refundId }) =>
            refundId === null ? Effect.void : settlement.start({ refundId, organizationId })
          ),
          Effect.as(1),
          Effect.catchTag(
            ["Conflict", "InvalidTransition"],
            () => Effect.as(Effect.logDebug(`order ${orderId} was confirmed or cancelled meanwhile`), 0)
          ),
          Effect.catchCause((cause) =>
            Effect.as(Effect.logWarning(`order ${orderId} could not be cancelled`, cause), 0)
          ),
          Effect.provideService(CurrentActor, systemActor(organizationId))
        )

      return {
        cancelAll: Effect.fn("UnpaidCancellation.cancelAll")(
          function*(due: ReadonlyArray<UnpaidOrder>, reason: string) {
            const ended = yield* Effect.forEach(due, (order) => cancel(order, reason), { concurrency: 4 })
            return ended.reduce((sum, one) => sum + one, 0)
          }
        )
      }
    })
  )
}
