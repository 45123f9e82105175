import { DateTime, Effect } from "effect"
import type { MailPurpose, PluginContext } from "stoa/plugin"
import { type Due, type Settled, settleMessages } from "./MessagesRepo.ts"
import type { NotificationSettings } from "./NotificationOptions.ts"

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

/** Settles messages that are not sent any more; `reason` becomes their error. */
export const suppress = Effect.fn("Notifications.suppress")(function*(
  { db }: PluginContext,
  dues: ReadonlyArray<{ readonly due: Due; readonly reason: string }>
) {
  if (dues.length === 0) return
  const now = yield* DateTime.nowAsDate
  const settled = dues.map(({ due: { attempts, id, triedBy }, reason }): Settled => ({
    id,
    attempts,
    status: "suppressed",
    error: reason,
    providerId: triedBy,
    adapterMessageId: null,
    nextAt: now
  }))
  yield* db.use(settleMessages)(settled, now)
})

/** The messages of a batch whose receivers have not declined them; the others are written down as suppressed. */
export const withoutDeclined = Effect.fn("Notifications.withoutDeclined")(function*(
  host: PluginContext,
  settings: Settings,
  batch: ReadonlyArray<Due>
) {
  const mails = batch.flatMap((due) => {
    const mail = declinable(settings, due)
    return mail === undefined ? [] : [{ ...mail, due }]
  })
  if (mails.length === 0) return batch
  const declined = yield* host.services.mail.declined(mails)
  yield* suppress(
    host,
    declined.map(({ category, due }) => ({
      due,
      reason: `The receiver declined the category ${category}.`.slice(0, 255)
    }))
  )
  const left = new Set(declined.map(({ due }) => due))
  return batch.filter((due) => !left.has(due))
})
