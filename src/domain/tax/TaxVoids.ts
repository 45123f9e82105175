import { Context, Effect, Layer } from "effect"
import { Jobs } from "../jobs/Jobs.ts"
import { isRefundedInFull, type Order, type StoredOrder } from "../orders/Order.ts"
import { effectsOf } from "../orders/OrderStatus.ts"
import { taxQueue, voidTaxSlug } from "./TaxNotices.ts"
import { TaxSettings } from "./TaxSettings.ts"

/** Whether nothing of an order is sold any more, so that its tax is void: it was cancelled, or refunded in full. */
export const isVoid = (order: Order): boolean => effectsOf[order.status].includes("voidTax") || isRefundedInFull(order)

/** Ends of orders that no change of status tells of. */
export class TaxVoids extends Context.Service<TaxVoids, {
  /**
   * Has the tax adapter told of an order that was refunded in full and keeps its status, by the job `tax/void`. Repeating
   * it is harmless, as the job has the order's own key. Orders of other ends have their job already.
   */
  readonly refunded: (stored: StoredOrder) => Effect.Effect<void>
}>()("stoa/domain/tax/TaxVoids") {
  static readonly layer = Layer.effect(
    TaxVoids,
    Effect.gen(function*() {
      const jobs = yield* Jobs
      const { adapter } = yield* TaxSettings
      return {
        refunded: Effect.fn("TaxVoids.refunded")(function*({ order, taxProvider }: StoredOrder) {
          const recorded = effectsOf[order.status].includes("voidTax")
          if (adapter?.void === undefined || taxProvider === null || recorded || !isRefundedInFull(order)) return
          const options = { organizationId: order.organizationId, queue: taxQueue }
          yield* Effect.catch(jobs.enqueue(voidTaxSlug, { orderId: order.id }, options), Effect.die)
        })
      }
    })
  )
}
