import { Effect } from "effect"
import type { EventNotice, EventSubscriber } from "../events/EventSubscribers.ts"
import { Jobs, type NewJob } from "../jobs/Jobs.ts"
import { effectsOf } from "../orders/OrderStatus.ts"
import { type OutsideTaxed, TaxNoticeRepo } from "./TaxNoticeRepo.ts"
import { TaxSettings } from "./TaxSettings.ts"

/** Slugs of the tasks that call the tax adapter, and their queue: a slow service delays nothing else. */
export const reportTaxSlug = "tax/report"
export const voidTaxSlug = "tax/void"
export const taxQueue = "tax"

const jobOf = ({ orderId, organizationId, status, type }: OutsideTaxed): ReadonlyArray<NewJob> => {
  const options = { organizationId, queue: taxQueue }
  if (type === "orders.create") return [{ task: reportTaxSlug, input: { orderId }, options }]
  return effectsOf[status].includes("voidTax") ? [{ task: voidTaxSlug, input: { orderId }, options }] : []
}

/**
 * Enqueues reports to the tax adapter: for each created order it taxed, and for each one cancelled or refunded
 * (`voidTax`, contract §4.2). The jobs are written in the relay's transaction, exactly one per committed change. Two
 * statements for any number of events; one if no order concerns the adapter, none if the adapter takes no reports.
 */
export const taxNotices: Effect.Effect<EventSubscriber, never, Jobs | TaxNoticeRepo | TaxSettings> = Effect.gen(
  function*() {
    const { adapter } = yield* TaxSettings
    const repo = yield* TaxNoticeRepo
    const jobs = yield* Jobs

    const wanted = ({ type }: EventNotice): boolean =>
      (type === "orders.create" && adapter?.report !== undefined) ||
      (type === "orders.statusChange" && adapter?.void !== undefined)

    return Effect.fn("taxNotices")(function*(events: ReadonlyArray<EventNotice>) {
      const recorded = events.filter(wanted)
      if (recorded.length === 0) return
      const due = (yield* repo.outside(recorded.map(({ id }) => id))).flatMap(jobOf)
      if (due.length > 0) yield* Effect.catch(jobs.enqueueAll(due), Effect.die)
    })
  }
)
