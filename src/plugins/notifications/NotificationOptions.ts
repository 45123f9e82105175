import { Context, Schema } from "effect"
import { code, option, setting } from "stoa/plugin"
import type { NotificationAdapter } from "./Channel.ts"

const from = (minimum: number, maximum: number) => Schema.Int.check(Schema.isBetween({ minimum, maximum }))

/** What a deployment decides of its notifications. */
export const NotificationSettings = Schema.Struct({
  adapters: setting(
    code<ReadonlyArray<NotificationAdapter>>(),
    [],
    "Adapters of channels; those of one channel are asked in their order"
  ),
  callbackSecret: option(
    Schema.String.check(Schema.isMinLength(16)),
    "Secret with which providers sign what they report; without it reports are refused"
  ),
  defaultLocale: setting(Schema.String, "en", "Language of texts where there are none in the customer's"),
  attempts: setting(
    from(1, 30),
    8,
    "Tries of a message, with waits of 30 seconds, then twice as long each time, up to six hours"
  ),
  leaseSeconds: setting(from(1, 86_400), 60, "Seconds for which a print job belongs to the agent that took it"),
  keepDays: setting(from(1, 3_650), 90, "Days after which recipients and texts of messages and print jobs are deleted")
})
export type NotificationSettings = typeof NotificationSettings.Type

export class NotificationOptions
  extends Context.Service<NotificationOptions, NotificationSettings>()("stoa/plugins/notifications/NotificationOptions")
{}
