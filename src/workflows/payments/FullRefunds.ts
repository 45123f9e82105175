import { Context, Effect, Layer, Result } from "effect"
import { isRefundedInFull } from "../../domain/orders/Order.ts"
import { Orders } from "../../domain/orders/Orders.ts"
import { transition } from "../../domain/orders/OrderStatus.ts"
import { OrderStatusRepo } from "../../domain/orders/OrderStatusRepo.ts"
import { TaxVoids } from "../../domain/tax/TaxNotices.ts"

/** Handles orders that are fully refunded (contract §4.1, §4.3). */
export class FullRefunds extends Context.Service<FullRefunds>()("stoa/workflows/payments/FullRefunds", {
  make: Effect.gen(function*() {
    const orders = yield* Orders
    const statuses = yield* OrderStatusRepo
    const taxes = yield* TaxVoids
    /**
     * Moves an order to `refunded` if the full capture has been refunded and the transition table allows it: from
     * `partially_fulfilled` and `fulfilled`. In other statuses, and after a partial refund, the status stays; the tax of
     * a full refund is voided in any case. Idempotent; a concurrent change or a hook's refusal also leaves the status.
     */
    const conclude = Effect.fn("FullRefunds.conclude")(function*(orderId: string) {
      const stored = yield* orders.find(orderId)
      if (stored === undefined) return
      const { order } = stored
      if (!isRefundedInFull(order)) return
      if (Result.isFailure(transition(order.status, "refunded", "payment"))) return yield* taxes.refunded(stored)
      const request = { status: "refunded", source: "payment", reason: "refunded_in_full" } as const
      yield* orders.changeStatus(orderId, request, statuses.transition).pipe(
        Effect.catch((error) => Effect.logWarning(`order ${orderId} is refunded in full and stays`, error))
      )
    })
    return { conclude }
  })
}) {
  static readonly layer = Layer.effect(FullRefunds, FullRefunds.make)
}
