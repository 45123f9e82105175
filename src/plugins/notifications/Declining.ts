import { DateTime, Effect } from "effect"
import type { MailPurpose, PluginContext } from "stoa/plugin"
import { outdated } from "./Conditions.ts"
import { type Due, settledAs, settleMessages } from "./MessagesRepo.ts"
import type { NotificationSettings } from "./NotificationOptions.ts"
import { endOfQuietHours } from "./QuietHours.ts"

type Settings = Pick<NotificationSettings, "transactionalCategories">

/** Messages of categories that are not transactional can be declined by their link. */
export const purposeOf = ({ transactionalCategories }: Settings, category: string | null): MailPurpose =>
  category === null || transactionalCategories.includes(category) ? "transactional" : { category }

/** The category that the receiver of an e-mail can decline; undefined for other messages. */
export const declinable = (
  settings: Settings,
  { category, channel, recipient }: Pick<Due, "category" | "channel" | "recipient">
): { readonly to: string; readonly category: string } | undefined => {
  const purpose = purposeOf(settings, category)
  return channel === "email" && recipient !== null && typeof purpose === "object"
    ? { to: recipient, category: purpose.category }
    : undefined
}

/** The moment until which quiet hours hold a message back that can be declined; null: it goes at once. */
const quietUntil = ({ config }: PluginContext, settings: NotificationSettings, { category, channel }: Due, now: Date) =>
  settings.quietHours === undefined || channel === "print" || channel === "in_app" ||
    purposeOf(settings, category) === "transactional"
    ? null
    : endOfQuietHours(settings.quietHours, config.timeZone, now)

/**
 * The messages of a batch that are sent now. Those in quiet hours wait for the end of them; those whose receivers declined
 * them, or whose condition no longer holds, are written down as suppressed. Four statements at most.
 */
export const sendable = Effect.fn("Notifications.sendable")(function*(
  host: PluginContext,
  settings: NotificationSettings,
  batch: ReadonlyArray<Due>
) {
  const now = yield* DateTime.nowAsDate
  const ended = new Map(
    (yield* outdated(host, batch)).map(({ due, reason }) =>
      [due, settledAs(due, { status: "suppressed", error: reason, nextAt: now })] as const
    )
  )
  const current = batch.filter((due) => !ended.has(due))
  const waiting = new Map(current.flatMap((due) => {
    const nextAt = quietUntil(host, settings, due, now)
    return nextAt === null
      ? []
      : [[due, settledAs(due, { status: "queued", untried: due.attempts - 1, nextAt })] as const]
  }))
  const mails = current.flatMap((due) => {
    const mail = waiting.has(due) ? undefined : declinable(settings, due)
    return mail === undefined ? [] : [{ ...mail, due }]
  })
  const declined = mails.length === 0 ? [] : yield* host.services.mail.declined(mails)
  const suppressed = new Map(declined.map(({ category, due }) => {
    const error = `The receiver declined the category ${category}.`.slice(0, 255)
    return [due, settledAs(due, { status: "suppressed", error, nextAt: now })]
  }))
  const settled = [...ended.values(), ...waiting.values(), ...suppressed.values()]
  if (settled.length > 0) yield* host.db.use(settleMessages)(settled, now)
  return current.filter((due) => !waiting.has(due) && !suppressed.has(due))
})
