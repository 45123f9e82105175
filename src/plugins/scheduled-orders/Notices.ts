import { DateTime, Effect, Result, Schema } from "effect"
import { defineTask, dueTask, itemLabel, Moment, type PluginContext, Uuid } from "stoa/plugin"
import { mailCustomer, noticeMail } from "./Mails.ts"
import { isAbove, quote, review } from "./Prices.ts"
import { repeats, scheduledOrders, type Tools } from "./ScheduledOrder.ts"
import type { ScheduleSettings } from "./ScheduleSettings.ts"

const noticeTask = "scheduled-orders/notify"
const Input = Schema.Struct({ id: Uuid, scheduledFor: Moment })

/**
 * Mails date and price of a renewal, if it is still to come; a price that has risen too much is asked about. The key of the
 * mail makes it one, however often this runs.
 */
const notify = Effect.fn("Notices.notify")(
  function*(tools: Tools, settings: ScheduleSettings, { id, scheduledFor }: typeof Input.Type) {
    const row = yield* tools.db.table(scheduledOrders).find(id)
    if (row?.status !== "scheduled" || row.scheduledFor.getTime() !== scheduledFor.getTime()) return
    const quoted = yield* Effect.result(quote(tools, row))
    if (Result.isSuccess(quoted) && isAbove(row, quoted.success.grandTotal)) {
      return yield* review(tools, settings, row, quoted.success.grandTotal)
    }
    const data = {
      scheduledFor: scheduledFor.toISOString(),
      orderedAt: (row.dueAt ?? scheduledFor).toISOString(),
      timezone: settings.timezone,
      currency: row.currency,
      ...(Result.isFailure(quoted)
        ? { things: [], total: null, reason: quoted.failure.error.message }
        : {
          things: quoted.success.lineItems.map((line) => `${line.quantity} × ${itemLabel(line)}`),
          total: quoted.success.grandTotal,
          reason: null
        })
    }
    yield* mailCustomer(tools, row, noticeMail, { data, key: `${id}/${data.scheduledFor}` })
  }
)

/** Announces renewals `noticeDays` before they are ordered: a job of each, which exists exactly if its row says so. */
export const noticeTasks = (context: PluginContext, settings: ScheduleSettings) => [
  defineTask({
    slug: noticeTask,
    concurrency: { key: ({ id }) => `${noticeTask}/${id}` },
    retries: { attempts: 10, backoff: { type: "exponential", delay: 1_000 } },
    handler: Effect.fnUntraced(function*({ input }) {
      yield* notify(yield* context.call, settings, yield* Schema.decodeUnknownEffect(Input)(input))
    })
  }),
  dueTask(context, {
    slug: "scheduled-orders/notice",
    schedule: "*/5 * * * *",
    of: scheduledOrders,
    where: (now) => ({ status: "scheduled", noticeAt: { lte: settings.noticeDays === 0 ? new Date(0) : now } }),
    each: Effect.fnUntraced(function*({ id, scheduledFor }, { db, jobs }) {
      yield* db.table(scheduledOrders).update(id, { noticeAt: null })
      yield* jobs.enqueue(noticeTask, { id, scheduledFor: scheduledFor.toISOString() })
    })
  })
]

const aDay = 86_400_000

/** The times of an order: when it is placed, and when a renewal is announced. */
export const timesOf = (
  { noticeDays, releaseMinutes }: ScheduleSettings,
  order: Parameters<typeof repeats>[0],
  scheduledFor: Date
) => {
  const dueAt = new Date(scheduledFor.getTime() - releaseMinutes * 60_000)
  const isAnnounced = noticeDays > 0 && repeats(order)
  return { scheduledFor, dueAt, noticeAt: isAnnounced ? new Date(dueAt.getTime() - noticeDays * aDay) : null }
}

/** The same of an order that is made now: no mail announces at once a time that the customer has just named. */
export const firstTimesOf = Effect.fnUntraced(function*(...order: Parameters<typeof timesOf>) {
  const times = timesOf(...order)
  const now = yield* DateTime.nowAsDate
  return { ...times, noticeAt: times.noticeAt !== null && times.noticeAt > now ? times.noticeAt : null }
})
