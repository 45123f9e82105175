import { DateTime, Effect, Redacted, Schema } from "effect"
import { dueTask, lastDayOf, LocalTimeZone, mailTemplate, moneyText, type PluginContext } from "stoa/plugin"
import { cards } from "./GiftCard.ts"
import { displayed } from "./GiftCardCode.ts"
import type { GiftCardSettings } from "./GiftCardOptions.ts"

const Delivered = Schema.Struct({
  displayCode: Schema.String,
  amount: Schema.Int,
  currency: Schema.String,
  senderName: Schema.NullOr(Schema.String),
  personalMessage: Schema.NullOr(Schema.String),
  expiresAt: Schema.NullOr(Schema.String)
})

/** The mail with a card's code. */
export const deliveryMail = ({ emailTemplate }: GiftCardSettings) =>
  mailTemplate({
    name: `gift-cards/${emailTemplate}`,
    purpose: "order",
    data: Delivered,
    sample: {
      displayCode: "ABCD-EFGH-JKMN-7K2M",
      amount: 5000,
      currency: "EUR",
      senderName: "Ann",
      personalMessage: "Happy birthday!",
      expiresAt: "2027-11-25"
    },
    texts: {
      en: ({ amount, currency, displayCode, expiresAt, personalMessage, senderName }, { locale, storeName }) => ({
        subject: `Your gift card for ${storeName}`,
        paragraphs: [
          `${senderName ?? storeName} gives you ${moneyText(amount, currency, locale)} to spend.`,
          ...(personalMessage === null ? [] : [personalMessage]),
          `Your code: ${displayCode}`
        ],
        notes: ["Who has the code can spend it.", ...(expiresAt === null ? [] : [`Valid until ${expiresAt}.`])]
      })
    }
  })

/**
 * Sends the mails that are due. A mail is enqueued in the transaction in which its card forgets the code, so each is sent
 * once and no code stays. Without mail in the deployment the codes wait.
 */
export const deliveries = (
  host: PluginContext,
  { codeFormat }: GiftCardSettings,
  template: ReturnType<typeof deliveryMail>
) =>
  dueTask(host, {
    slug: "gift-cards/deliver",
    schedule: "* * * * *",
    of: cards,
    where: (now) => ({
      deliveredAt: null,
      disabledAt: null,
      withdrawnAt: null,
      recipientEmail: { not: null },
      deliverAt: { lte: now },
      ...(host.services.mail.isOn ? {} : { id: { in: [] } })
    }),
    each: Effect.fnUntraced(function*({ id, recipientEmail, ...card }, { db, services }) {
      const code = yield* db.table(cards).secret(id, "code")
      yield* db.table(cards).update(id, { code: null, deliveredAt: yield* DateTime.nowAsDate })
      if (code === null || recipientEmail === null) return
      const { currency, expiresAt, initialAmount, personalMessage, senderName } = card
      const data = {
        displayCode: displayed(Redacted.value(code), codeFormat),
        amount: initialAmount,
        currency,
        senderName,
        personalMessage,
        expiresAt: expiresAt === null ? null : lastDayOf(expiresAt, yield* LocalTimeZone)
      }
      yield* services.mail.send(template, { to: recipientEmail, data, key: id })
    })
  })
