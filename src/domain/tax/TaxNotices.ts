import { Context, Effect, Layer } from "effect"
import { isRefundedInFull, type Order, type StoredOrder } from "../orders/Order.ts"
import { effectsOf } from "../orders/OrderStatus.ts"
import type { EventNotice, EventSubscriber } from "../platform/events/EventSubscribers.ts"
import { Jobs, type NewJob } from "../platform/jobs/Jobs.ts"
import { TaxSettings } from "./TaxAdapter.ts"
import { type OutsideTaxed, TaxNoticeRepo } from "./TaxRepo.ts"

/** A separate queue: a slow service delays nothing else. */
export const reportTaxSlug = "tax/report"
export const voidTaxSlug = "tax/void"
export const taxQueue = "tax"

const jobOf = ({ orderId, organizationId, status, type }: OutsideTaxed): ReadonlyArray<NewJob> => {
  const options = { organizationId, queue: taxQueue }
  if (type === "orders.create") return [{ task: reportTaxSlug, input: { orderId }, options }]
  return status !== null && effectsOf[status].includes("voidTax")
    ? [{ task: voidTaxSlug, input: { orderId }, options }]
    : []
}

/**
 * Enqueues reports to the tax adapter for created, cancelled and refunded orders (`voidTax`, contract §4.2), in the
 * relay's transaction: one per committed change. At most two statements.
 */
export const taxNotices: Effect.Effect<EventSubscriber, never, Jobs | TaxNoticeRepo | TaxSettings> = Effect.gen(
  function*() {
    const settings = yield* TaxSettings
    const repo = yield* TaxNoticeRepo
    const jobs = yield* Jobs

    const wanted = ({ type }: EventNotice): boolean =>
      (type === "orders.create" && settings.adapter?.report !== undefined) ||
      (type === "orders.statusChange" && settings.adapter?.void !== undefined)

    return Effect.fn("taxNotices")(function*(events: ReadonlyArray<EventNotice>) {
      const recorded = events.filter(wanted)
      if (recorded.length === 0) return
      const due = (yield* repo.outside(recorded.map(({ id }) => id))).flatMap(jobOf)
      if (due.length > 0) yield* Effect.catch(jobs.enqueueAll(due), Effect.die)
    })
  }
)

export const isVoid = (order: Order): boolean => effectsOf[order.status].includes("voidTax") || isRefundedInFull(order)

export class TaxVoids extends Context.Service<TaxVoids>()("stoa/domain/tax/TaxVoids", {
  make: Effect.gen(function*() {
    const jobs = yield* Jobs
    const settings = yield* TaxSettings
    return {
      /**
       * Enqueues `tax/void` for an order that was fully refunded and keeps its status. Safe to repeat: the job has the
       * order's key.
       */
      refunded: Effect.fn("TaxVoids.refunded")(function*({ order, taxProvider }: StoredOrder) {
        const recorded = effectsOf[order.status].includes("voidTax")
        if (settings.adapter?.void === undefined || taxProvider === null || recorded || !isRefundedInFull(order)) return
        const options = { organizationId: order.organizationId, queue: taxQueue }
        yield* Effect.catch(jobs.enqueue(voidTaxSlug, { orderId: order.id }, options), Effect.die)
      })
    }
  })
}) {
  static readonly layer = Layer.effect(TaxVoids, TaxVoids.make)
}
