import { DateTime, Effect, Schema } from "effect"
import { mailTemplate, moneyText, type NewPluginMail, NotFound, type PluginMailTemplate } from "stoa/plugin"
import type { ScheduledOrder, Tools } from "./ScheduledOrder.ts"

/** Tells a customer that what they have scheduled could not be ordered and is not tried again by itself. */
export const failedMail = mailTemplate({
  name: "scheduled-orders/failed",
  purpose: "transactional",
  data: Schema.Struct({
    scheduledFor: Schema.String,
    // Mails that wait may have been written without it.
    timezone: Schema.optional(Schema.String),
    reason: Schema.String
  }),
  sample: { scheduledFor: "2026-11-27 18:30", timezone: "Europe/Vienna", reason: "The card was declined." },
  texts: {
    en: ({ reason, scheduledFor, timezone = "UTC" }, { storeName }) => ({
      subject: `Your order at ${storeName} could not be placed`,
      paragraphs: [`What you have scheduled for ${scheduledFor} (${timezone}) was not ordered:`, reason],
      notes: ["You can try again, or choose another means of payment, in your account."]
    }),
    de: ({ reason, scheduledFor, timezone = "UTC" }, { storeName }) => ({
      subject: `Ihre Bestellung bei ${storeName} konnte nicht aufgegeben werden`,
      paragraphs: [`Was Sie für ${scheduledFor} (${timezone}) geplant haben, wurde nicht bestellt:`, reason],
      notes: ["In Ihrem Konto können Sie es noch einmal versuchen oder anders bezahlen."]
    })
  }
})

const Notice = Schema.Struct({
  scheduledFor: Schema.String,
  orderedAt: Schema.String,
  timezone: Schema.String,
  things: Schema.Array(Schema.String),
  currency: Schema.String,
  /** Null: it cannot be ordered now, for this reason. */
  total: Schema.NullOr(Schema.Int),
  reason: Schema.NullOr(Schema.String)
})

/** Writes moments as people of a place and a language read them. */
export const momentIn = (timeZone: string, locale: string) => (at: string) =>
  DateTime.format(DateTime.makeZonedUnsafe(at, { timeZone }), { locale, dateStyle: "full", timeStyle: "short" })

/** Announces a renewal. Its receiver has asked for the order, so there is no declining. */
export const noticeMail = mailTemplate({
  name: "scheduled-orders/notice",
  purpose: "transactional",
  data: Notice,
  sample: {
    scheduledFor: "2026-11-27T17:30:00.000Z",
    orderedAt: "2026-11-27T17:15:00.000Z",
    timezone: "Europe/Vienna",
    things: ["1 × Vegetable box"],
    currency: "EUR",
    total: 2500,
    reason: null
  },
  texts: {
    en: ({ currency, orderedAt, reason, scheduledFor, things, timezone, total }, { locale, storeName }) => {
      const moment = momentIn(timezone, locale)
      return {
        subject: `Your next order at ${storeName}`,
        paragraphs: [
          `What you have scheduled for ${moment(scheduledFor)} (${timezone}) is ordered and charged on ${
            moment(orderedAt)
          }.`,
          things.join(", "),
          total === null
            ? `It could not be ordered today: ${reason}`
            : `Today it costs ${moneyText(total, currency, locale)} in all.`
        ].filter((text) => text !== ""),
        notes: ["Until then you can change, skip or cancel it in your account."]
      }
    },
    de: ({ currency, orderedAt, reason, scheduledFor, things, timezone, total }, { locale, storeName }) => {
      const moment = momentIn(timezone, locale)
      return {
        subject: `Ihre nächste Bestellung bei ${storeName}`,
        paragraphs: [
          `Was Sie für ${moment(scheduledFor)} (${timezone}) geplant haben, wird am ${
            moment(orderedAt)
          } bestellt und bezahlt.`,
          things.join(", "),
          total === null
            ? `Heute könnte es nicht bestellt werden: ${reason}`
            : `Heute kostet es insgesamt ${moneyText(total, currency, locale)}.`
        ].filter((text) => text !== ""),
        notes: ["Bis dahin können Sie es in Ihrem Konto ändern, auslassen oder absagen."]
      }
    }
  }
})

/** Mails the customer of an order, in the language of its cart. Erased customers have no profile and get nothing. */
export const mailCustomer = Effect.fnUntraced(function*<Data>(
  { services: { customers, mail } }: Pick<Tools, "services">,
  { customerId, locale }: Pick<ScheduledOrder, "customerId" | "locale">,
  template: PluginMailTemplate<Data, "transactional">,
  content: Pick<NewPluginMail<Data>, "data" | "key">
) {
  if (!mail.isOn) return
  const email = yield* customers.get(customerId).pipe(
    Effect.map((customer) => customer.email),
    Effect.catchIf(Schema.is(NotFound), () => Effect.succeed(null))
  )
  if (email !== null) yield* mail.send(template, { to: email, ...(locale !== null && { locale }), ...content })
})
