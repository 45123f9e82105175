import { Context, Effect, Layer } from "effect"
import { CurrentActor, systemActor } from "../../domain/access/Actor.ts"
import { Orders } from "../../domain/orders/Orders.ts"
import { OrderStatusRepo } from "../../domain/orders/OrderStatusRepo.ts"
import { RefundSettlement } from "./RefundSettlement.ts"

/** An order that nobody has paid in time. */
export interface UnpaidOrder {
  readonly orderId: string
  readonly organizationId: string
}

/** Ends orders whose time to be paid is over. */
export class UnpaidCancellation extends Context.Service<UnpaidCancellation, {
  /**
   * Cancels them as a person would: hooks, history, event, stock, promotion usage and cart, and the authorization is
   * voided. Only from `pending` and only while nothing was captured: one that is paid or confirmed in that moment stays.
   * One that cannot be cancelled is logged and keeps nobody from his turn. Gives how many were cancelled.
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
