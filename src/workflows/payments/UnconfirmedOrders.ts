import { Context, Effect, Layer } from "effect"
import { CurrentActor, systemActor } from "../../domain/access/Actor.ts"
import { Orders } from "../../domain/orders/Orders.ts"
import { OrderStatusRepo } from "../../domain/orders/OrderStatusRepo.ts"
import { type UnconfirmedOrder, UnconfirmedOrderRepo } from "../../domain/orders/UnconfirmedOrderRepo.ts"
import { RefundSettlement } from "./RefundSettlement.ts"

/** Most orders one sweep cancels. */
export const ordersPerSweep = 100

/** As the provider's events do: only from `pending`, and only while nothing was captured. */
const asked = { status: "cancelled", source: "payment", reason: "payment_not_confirmed", unpaid: true } as const

/** Ends orders whose shopper never confirmed the payment, so that they hold no stock for ever. */
export class UnconfirmedOrders extends Context.Service<UnconfirmedOrders, {
  /**
   * Cancels orders that have waited too long, at most 100 a call, as a person would: hooks, history, event, stock,
   * promotion usage and cart, and the authorization is voided. An order that is paid or confirmed in that moment stays.
   * Gives how many were looked at; for the scheduler.
   */
  readonly sweep: Effect.Effect<number>
}>()("stoa/workflows/payments/UnconfirmedOrders") {
  static readonly layer = Layer.effect(
    UnconfirmedOrders,
    Effect.gen(function*() {
      const unconfirmed = yield* UnconfirmedOrderRepo
      const orders = yield* Orders
      const statuses = yield* OrderStatusRepo
      const settlement = yield* RefundSettlement

      const cancel = ({ orderId, organizationId }: UnconfirmedOrder) =>
        orders.changeStatus(orderId, asked, statuses.transition).pipe(
          Effect.flatMap(({ refundId }) =>
            refundId === null ? Effect.void : settlement.start({ refundId, organizationId })
          ),
          Effect.catchTag(
            ["Conflict", "InvalidTransition"],
            () => Effect.logDebug(`order ${orderId} was confirmed or cancelled meanwhile`)
          ),
          Effect.catchCause((cause) => Effect.logWarning(`order ${orderId} could not be cancelled`, cause)),
          Effect.provideService(CurrentActor, systemActor(organizationId))
        )

      const sweep = Effect.gen(function*() {
        const due = yield* unconfirmed.takeDue(ordersPerSweep)
        yield* Effect.forEach(due.filter(({ paid }) => !paid), cancel, { concurrency: 4, discard: true })
        return due.length
      }).pipe(Effect.withSpan("UnconfirmedOrders.sweep"))

      return { sweep }
    })
  )
}
