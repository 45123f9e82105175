import { Context, Effect, Layer, Schema } from "effect"
import { Orders } from "../../domain/orders/Orders.ts"
import { OrderStatusRepo } from "../../domain/orders/OrderStatusRepo.ts"
import { type UnpaidOrder, UnpaidOrderRepo } from "../../domain/orders/UnpaidOrderRepo.ts"
import { CurrentActor, systemActor } from "../../domain/platform/access/Actor.ts"
import { Conflict, InvalidTransition } from "../../domain/platform/errors/ApiErrors.ts"
import { nilId } from "../../domain/platform/ids/Id.ts"
import { StoreSettings } from "../../domain/platform/settings/StoreSettings.ts"
import { defineTask } from "../../domain/platform/tasks/Task.ts"
import { RefundSettlement } from "./RefundSettlement.ts"

export const ordersPerRun = 100

/** Cancels orders whose payment deadline has passed: they do not hold stock forever. */
export class UnpaidOrders extends Context.Service<UnpaidOrders>()("stoa/workflows/payments/UnpaidOrders", {
  make: Effect.gen(function*() {
    const orders = yield* Orders
    const statuses = yield* OrderStatusRepo
    const settlement = yield* RefundSettlement
    const unconfirmed = yield* UnpaidOrderRepo

    const cancel = ({ orderId, organizationId }: UnpaidOrder, reason: string) =>
      // As the provider's events do.
      orders.changeStatus(
        orderId,
        { status: "cancelled", source: "payment", reason, unpaid: true },
        statuses.transition
      ).pipe(
        Effect.tap(({ refundId }) => refundId === null ? Effect.void : settlement.start({ refundId, organizationId })),
        Effect.as(1),
        Effect.catchIf(
          Schema.is(Schema.Union([Conflict, InvalidTransition])),
          () => Effect.as(Effect.logDebug(`order ${orderId} was confirmed or cancelled meanwhile`), 0)
        ),
        Effect.catchCause((cause) => Effect.as(Effect.logWarning(`order ${orderId} could not be cancelled`, cause), 0)),
        Effect.provideService(CurrentActor, systemActor(organizationId))
      )

    /**
     * Cancels orders as a manual cancellation does, only from `pending` and before any capture. A failed cancellation
     * is logged and does not block the others. Returns how many were cancelled.
     */
    const cancelAll = Effect.fn("UnpaidOrders.cancelAll")(
      function*(due: ReadonlyArray<UnpaidOrder>, reason: string) {
        const ended = yield* Effect.forEach(due, (order) => cancel(order, reason), { concurrency: 4 })
        return ended.reduce((sum, one) => sum + one, 0)
      }
    )

    /** Cancels at most 100 orders whose shopper did not confirm the payment in time. Returns how many were checked. */
    const cancelUnconfirmed = Effect.gen(function*() {
      const due = yield* unconfirmed.takeDue(ordersPerRun)
      yield* cancelAll(due.filter(({ paid }) => !paid), "payment_not_confirmed")
      return due.length
    }).pipe(Effect.withSpan("UnpaidOrders.cancelUnconfirmed"))

    return { cancelAll, cancelUnconfirmed }
  })
}) {
  static readonly layer = Layer.effect(UnpaidOrders, UnpaidOrders.make)
}

/**
 * Cancels pending orders unpaid for `orders.staleHours`, every hour (contract §4.4); drafts never expire. Each order is
 * tried once per run: one that cannot be cancelled does not keep the run going forever.
 */
export const staleCleanup = Effect.gen(function*() {
  const repo = yield* UnpaidOrderRepo
  const unpaid = yield* UnpaidOrders
  const { staleOrderHours } = yield* StoreSettings
  return defineTask({
    slug: "orders/stale-cleanup",
    schedule: "7 * * * *",
    concurrency: { key: () => "orders/stale-cleanup", supersedes: true },
    handler: Effect.fnUntraced(function*() {
      let cancelledCount = 0
      for (let after: string | undefined = staleOrderHours === 0 ? undefined : nilId; after !== undefined;) {
        const due: Effect.Success<ReturnType<typeof repo.older>> = yield* repo.older(
          staleOrderHours,
          after,
          ordersPerRun
        )
        cancelledCount += yield* unpaid.cancelAll(due, "not_paid")
        after = due.length === ordersPerRun ? due.at(-1)?.orderId : undefined
      }
      return { output: { cancelledCount } }
    })
  })
})
