import { DateTime, Effect, Schema } from "effect"
import { defineTask, mailTemplate, type PluginContext } from "stoa/plugin"
import { purposeOf, sendable } from "./Declining.ts"
import { missingWay, sendTask } from "./Dispatch.ts"
import { claimMessages, type Due, settledAs, settleMessages } from "./MessagesRepo.ts"
import type { NotificationSettings } from "./NotificationOptions.ts"
import { printMessages } from "./PrintRepo.ts"
import { textOfHtml } from "./Rendering.ts"
import { leaseMs, sendBatch, textOf } from "./Sending.ts"

/** The mail of a message, whose texts are rendered already. */
export const messageMail = mailTemplate({
  name: "notifications/message",
  purpose: "ofEachMail",
  data: Schema.Struct({ subject: Schema.String, html: Schema.String }),
  sample: { subject: "Your order is on its way", html: "<p>Hello Ann, it will be there <b>tomorrow</b>.</p>" },
  texts: { en: ({ html, subject }) => ({ subject, html, text: textOfHtml(html) }) }
})

const batchSize = 500
/** A run ends after this time, and another one goes on. */
const runMs = 200_000

/** What the service itself takes over: mails, print jobs and the inbox, in the transaction that says so. */
const handOver = Effect.fn("Notifications.handOver")(function*(
  host: PluginContext,
  settings: NotificationSettings,
  batch: ReadonlyArray<Due>
) {
  const { db } = host
  if (batch.length === 0) return
  const now = yield* DateTime.nowAsDate
  const settled = batch.map((due) => {
    const error = missingWay(due.channel, settings, host)
    const status = error !== null ? "failed" : due.channel === "in_app" ? "delivered" : "sent"
    return settledAs(due, { status, error, providerId: null, nextAt: now })
  })
  const accepted = batch.filter((_, n) => settled[n]?.status === "sent")
  const printed = accepted.filter(({ channel }) => channel === "print")
  if (printed.length > 0) {
    yield* db.use(printMessages)(
      printed.map((due) => ({
        id: due.id,
        printerId: due.recipient ?? "",
        content: { subject: due.subject, text: textOf(due) }
      }))
    )
  }
  yield* Effect.forEach(
    accepted.filter(({ channel }) => channel === "email"),
    (due) =>
      host.services.mail.send(messageMail, {
        to: due.recipient ?? "",
        data: { subject: due.subject ?? "", html: textOf(due) },
        key: due.id,
        purpose: purposeOf(settings, due.category),
        isCounted: true
      }),
    { discard: true }
  )
  yield* db.use(settleMessages)(settled, now)
}, (work, { db }) => db.transaction(work))

/** Sends messages that are due: constant statements for a batch of any size, and one more for each fail-over. */
export const deliveries = (host: PluginContext, settings: NotificationSettings) => {
  const { db } = host
  const { adapters } = settings
  const firsts = Object.fromEntries(adapters.toReversed().map(({ channel, providerId }) => [channel, providerId]))
  return defineTask({
    slug: sendTask,
    schedule: "* * * * *",
    everyOrganization: true,
    // A run that takes long outlasts the next tick, and takes what came meanwhile.
    concurrency: { key: () => sendTask, supersedes: true },
    handler: Effect.fn("Notifications.send")(function*({ ctx: { jobs, organizationId } }) {
      const began = yield* DateTime.nowAsDate
      for (let count = 0;;) {
        const now = yield* DateTime.nowAsDate
        const lease = new Date(now.getTime() + leaseMs)
        const batch = yield* db.use(claimMessages)({ now, lease, limit: batchSize, adapters: firsts })
        const isSent = ({ channel }: Due) => adapters.some((one) => one.channel === channel)
        const wanted = yield* sendable(host, settings, batch)
        yield* handOver(host, settings, wanted.filter((due) => !isSent(due)))
        yield* sendBatch(host, settings, wanted.filter(isSent), organizationId)
        count += batch.length
        if (batch.length < batchSize) return { output: { count } }
        if (now.getTime() - began.getTime() > runMs) {
          yield* jobs.enqueue(sendTask, {})
          return { output: { count } }
        }
      }
    })
  })
}
