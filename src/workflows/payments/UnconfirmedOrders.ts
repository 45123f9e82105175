import { Context, Effect, Layer } from "effect"
import { UnconfirmedOrderRepo } from "../../domain/orders/UnconfirmedOrderRepo.ts"
import { UnpaidCancellation } from "./UnpaidCancellation.ts"

/** Maximum number of orders one run cancels. */
export const ordersPerRun = 100

/** Ends orders whose shopper never confirmed the payment, so that they do not hold stock forever. */
export class UnconfirmedOrders extends Context.Service<UnconfirmedOrders, {
  /**
   * Scheduled job: cancels overdue orders, at most 100 per call. An order paid or confirmed at that moment stays.
   * Returns how many were checked.
   */
  readonly sweep: Effect.Effect<number>
}>()("stoa/workflows/payments/UnconfirmedOrders") {
  static readonly layer = Layer.effect(
    UnconfirmedOrders,
    Effect.gen(function*() {
      const unconfirmed = yield* UnconfirmedOrderRepo
      const unpaid = yield* UnpaidCancellation

      const sweep = Effect.gen(function*() {
        const due = yield* unconfirmed.takeDue(ordersPerRun)
        yield* unpaid.cancelAll(due.filter(({ paid }) => !paid), "payment_not_confirmed")
        return due.length
      }).pipe(Effect.withSpan("UnconfirmedOrders.sweep"))

      return { sweep }
    })
  )
}
