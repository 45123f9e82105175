import { Schema } from "effect"
import { mailTemplate, moneyText } from "stoa/plugin"
import { momentIn } from "./Mails.ts"

const aTime = { scheduledFor: Schema.String, timezone: Schema.String }
const sample = { scheduledFor: "2026-11-27T17:30:00.000Z", timezone: "Europe/Vienna" }

/** Asks a customer about a price that has risen more than they have agreed to. */
export const reviewMail = mailTemplate({
  name: "scheduled-orders/price-review",
  purpose: "transactional",
  data: Schema.Struct({
    ...aTime,
    currency: Schema.String,
    agreedTotal: Schema.Int,
    quotedTotal: Schema.Int,
    until: Schema.String
  }),
  sample: { ...sample, currency: "EUR", agreedTotal: 2500, quotedTotal: 2900, until: "2026-12-01T17:30:00.000Z" },
  texts: {
    en: ({ agreedTotal, currency, quotedTotal, scheduledFor, timezone, until }, { locale, storeName }) => {
      const moment = momentIn(timezone, locale)
      const money = (amount: number) => moneyText(amount, currency, locale)
      return {
        subject: `The price of your next order at ${storeName} has risen`,
        paragraphs: [
          `What you have scheduled for ${moment(scheduledFor)} (${timezone}) costs ${
            money(quotedTotal)
          } in all today. You have agreed to ${money(agreedTotal)}.`,
          "It is not ordered until you accept the new price in your account. You can also cancel it there."
        ],
        notes: [`Without your answer it is cancelled with all its repeats on ${moment(until)}.`]
      }
    },
    de: ({ agreedTotal, currency, quotedTotal, scheduledFor, timezone, until }, { locale, storeName }) => {
      const moment = momentIn(timezone, locale)
      const money = (amount: number) => moneyText(amount, currency, locale)
      return {
        subject: `Der Preis Ihrer nächsten Bestellung bei ${storeName} ist gestiegen`,
        paragraphs: [
          `Was Sie für ${moment(scheduledFor)} (${timezone}) geplant haben, kostet heute insgesamt ${
            money(quotedTotal)
          }. Vereinbart waren ${money(agreedTotal)}.`,
          "Es wird erst bestellt, wenn Sie den neuen Preis in Ihrem Konto annehmen. Dort können Sie es auch absagen."
        ],
        notes: [`Ohne Ihre Antwort wird es am ${moment(until)} mit allen Wiederholungen abgesagt.`]
      }
    }
  }
})

/** Tells a customer that what they have scheduled has ended, because they did not accept its price. */
export const unansweredMail = mailTemplate({
  name: "scheduled-orders/price-unanswered",
  purpose: "transactional",
  data: Schema.Struct(aTime),
  sample,
  texts: {
    en: ({ scheduledFor, timezone }, { locale, storeName }) => ({
      subject: `Your next order at ${storeName} was cancelled`,
      paragraphs: [
        `What you have scheduled for ${
          momentIn(timezone, locale)(scheduledFor)
        } (${timezone}) was cancelled with all its repeats, because you have not accepted its new price.`
      ],
      notes: ["Nothing was charged. You can schedule it again at any time."]
    }),
    de: ({ scheduledFor, timezone }, { locale, storeName }) => ({
      subject: `Ihre nächste Bestellung bei ${storeName} wurde abgesagt`,
      paragraphs: [
        `Was Sie für ${
          momentIn(timezone, locale)(scheduledFor)
        } (${timezone}) geplant haben, wurde mit allen Wiederholungen abgesagt, weil Sie den neuen Preis nicht angenommen haben.`
      ],
      notes: ["Es wurde nichts berechnet. Sie können es jederzeit wieder planen."]
    })
  }
})
