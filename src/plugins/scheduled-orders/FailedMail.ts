import { Schema } from "effect"
import { mailTemplate } from "stoa/plugin"

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
