import { Cause, DateTime, Effect } from "effect"
import { declineHeaders, type PluginContext } from "stoa/plugin"
import { type NotificationAdapter, NotSent } from "./Channel.ts"
import { declinable } from "./Declining.ts"
import { type Due, type Settled, settledAs, settleMessages } from "./MessagesRepo.ts"
import type { NotificationSettings } from "./NotificationOptions.ts"
import { escaped } from "./Rendering.ts"

/** Milliseconds for which a message belongs to the process that took it. */
export const leaseMs = 300_000
const tryMs = 20_000

/** Milliseconds before the next try: 30 seconds, then twice as long each time, at most six hours. */
const waitMs = (attempts: number): number => Math.min(30_000 * 2 ** (attempts - 1), 21_600_000)

/** The text of a message, or those of its digest. */
export const textOf = ({ bodies, channel }: Due): string => bodies.join(channel === "email" ? "\n<hr>\n" : "\n\n")

interface Try {
  readonly due: Due
  readonly adapter: NotificationAdapter
  /** Those that may be asked when it is certain that this one sent nothing. */
  readonly rest: ReadonlyArray<NotificationAdapter>
}

/** Where a message begins. What an adapter may have sent already is not given to another one, which would send it twice. */
const firstTry = (due: Due, adapters: ReadonlyArray<NotificationAdapter>): ReadonlyArray<Try> => {
  const ofChannel = adapters.filter(({ channel }) => channel === due.channel)
  const tried = ofChannel.find(({ providerId }) => providerId === due.triedBy)
  const [adapter, ...rest] = tried === undefined ? ofChannel : [tried]
  return adapter === undefined ? [] : [{ due, adapter, rest }]
}

/** The text of a message and the headers of its link, which an e-mail that can be declined never goes without. */
const contentOf = Effect.fnUntraced(function*({ services }: PluginContext, settings: NotificationSettings, due: Due) {
  const category = declinable(settings, due)
  if (category === undefined) return { body: textOf(due), headers: {} }
  const url = yield* services.mail.unsubscribeUrl(category)
  if (url === undefined) {
    return yield* new NotSent({
      outcome: "refused",
      reason: "Mails that can be declined need STOA_PUBLIC_URL with https."
    })
  }
  return { body: `${textOf(due)}\n<p><a href="${escaped(url)}">Unsubscribe</a></p>`, headers: declineHeaders(url) }
})

const attempt = (host: PluginContext, settings: NotificationSettings, { adapter, due }: Try, organizationId: string) =>
  Effect.flatMap(contentOf(host, settings, due), (content) =>
    adapter.send({
      channel: due.channel,
      to: due.recipient ?? "",
      subject: due.subject,
      ...content,
      idempotencyKey: due.id,
      organizationId
    }, host)).pipe(
      Effect.timeoutOrElse({
        duration: tryMs,
        orElse: () => Effect.fail(new NotSent({ outcome: "unknown", reason: "It did not answer in time." }))
      }),
      Effect.catchCause((cause): Effect.Effect<NotSent> => {
        if (Cause.hasInterrupts(cause)) return Effect.interrupt
        const error = Cause.squash(cause)
        return Effect.succeed(
          error instanceof NotSent ? error : new NotSent({ outcome: "unknown", reason: String(error) })
        )
      })
    )

type Outcome = Effect.Success<ReturnType<typeof attempt>>

const settledBy = (
  { adapter: { providerId }, due, rest: [next] }: Try,
  outcome: Outcome,
  now: Date,
  most: number
): Settled => {
  const at = (ms: number) => new Date(now.getTime() + ms)
  if (!(outcome instanceof NotSent)) {
    return settledAs(due, { status: "sent", providerId, adapterMessageId: outcome.messageId, nextAt: now })
  }
  const failed = { providerId, error: `${providerId}: ${outcome.reason}`.slice(0, 255), nextAt: now } as const
  const isCertain = outcome.outcome === "unavailable" && due.triedBy !== providerId
  if (isCertain && next !== undefined) {
    return settledAs(due, { ...failed, status: "queued", providerId: next.providerId, nextAt: at(leaseMs) })
  }
  return outcome.outcome === "refused" || due.attempts >= most
    ? settledAs(due, { ...failed, status: "failed" })
    : settledAs(due, {
      ...failed,
      status: "queued",
      providerId: isCertain ? null : providerId,
      nextAt: at(waitMs(due.attempts))
    })
}

/** Sends a batch by adapters, round by round: who is asked next is written down before. One statement for each round. */
export const sendBatch = Effect.fn("Notifications.sendBatch")(function*(
  host: PluginContext,
  settings: NotificationSettings,
  batch: ReadonlyArray<Due>,
  organizationId: string
) {
  const { db } = host
  const { adapters, attempts: most } = settings
  for (let open = batch.flatMap((due) => firstTry(due, adapters)); open.length > 0;) {
    const tried = yield* Effect.forEach(
      open,
      (one) => Effect.map(attempt(host, settings, one, organizationId), (outcome) => ({ one, outcome })),
      { concurrency: 100 }
    )
    const now = yield* DateTime.nowAsDate
    const settled = tried.map(({ one, outcome }) => ({ one, row: settledBy(one, outcome, now, most) }))
    yield* db.use(settleMessages)(settled.map(({ row }) => row), now)
    open = settled.flatMap(({ one: { due, rest: [adapter, ...rest] }, row }) =>
      row.status === "queued" && adapter !== undefined && row.providerId === adapter.providerId
        ? [{ due, adapter, rest }]
        : []
    )
  }
})
