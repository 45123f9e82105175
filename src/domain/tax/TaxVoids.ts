import { Context, Effect, Layer } from "effect"
import { Jobs } from "../jobs/Jobs.ts"
import { isRefundedInFull, type Order, type StoredOrder } from "../orders/Order.ts"
import { effectsOf } from "../orders/OrderStatus.ts"
import { taxQueue, voidTaxSlug } from "./TaxNotices.ts"
import { TaxSettings } from "./TaxSettings.ts"

/** Whether an order's tax is void because nothing of it is sold any more: it was cancelled or fully refunded. */
export const isVoid = (order: Order): boolean => effectsOf[order.status].includes("voidTax") || isRefundedInFull(order)

/** Voids of tax without a change of status. */
export class TaxVoids extends Context.Service<TaxVoids, {
  /**
   * Enqueues the job `tax/void` for an order that was fully refunded and keeps its status. Safe to repeat, because the
   * job has the order's key. Other ended orders already have their job.
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
