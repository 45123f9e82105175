import { Context, Schema } from "effect"
import { group, option } from "stoa/plugin"
import type { NotificationAdapter } from "./Channel.ts"
import { QuietHours } from "./QuietHours.ts"

export const routes = group("Notifications", "/notifications")
export const admin = "notifications:admin"

const from = (minimum: number, maximum: number) => Schema.Int.check(Schema.isBetween({ minimum, maximum }))

/** What a deployment decides of its notifications. */
export const NotificationSettings = Schema.Struct({
  adapters: option<ReadonlyArray<NotificationAdapter>>({
    default: [],
    description: "Adapters of channels; those of one channel are asked in their order"
  }),
  callbackSecret: option(Schema.String.check(Schema.isMinLength(16)), {
    description: "Secret with which providers sign what they report; without it reports are refused"
  }),
  defaultLocale: option(Schema.String, {
    default: "en",
    description: "Language of texts where there are none in the customer's"
  }),
  transactionalCategories: option(Schema.Array(Schema.String), {
    default: ["orders", "appointments"],
    description: "Categories of templates about orders or what the receiver asked for; receivers can decline all others"
  }),
  quietHours: option(QuietHours, {
    description: "Hours of the store's time zone in which messages wait that receivers can decline; without it none do"
  }),
  attempts: option(from(1, 30), {
    default: 8,
    description: "Tries of a message, with waits of 30 seconds, then twice as long each time, up to six hours"
  }),
  leaseSeconds: option(from(1, 86_400), {
    default: 60,
    description: "Seconds for which a print job belongs to the agent that took it"
  }),
  keepDays: option(from(1, 3_650), {
    default: 90,
    description: "Days after which recipients and texts of messages and print jobs are deleted"
  })
})
export type NotificationSettings = typeof NotificationSettings.Type

export class NotificationOptions
  extends Context.Service<NotificationOptions, NotificationSettings>()("stoa/plugins/notifications/NotificationOptions")
{}
