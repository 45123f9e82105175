import { DateTime, Effect, Exit, Redacted, Schema } from "effect"
import {
  dueTask,
  lastDayOf,
  LocalTimeZone,
  mailTemplate,
  moneyText,
  type PluginCall,
  type PluginContext
} from "stoa/plugin"
import { type Card, cards } from "./GiftCard.ts"
import { displayed } from "./GiftCardCode.ts"
import type { GiftCardSettings } from "./GiftCardOptions.ts"

const Delivered = Schema.Struct({
  /** The code, or the codes with commas. */
  displayCode: Schema.String,
  /** The sum of several cards. */
  amount: Schema.Int,
  /** The cards of one line, where there are several. Optional: mails that wait may have been written without it. */
  cards: Schema.optional(Schema.Array(Schema.Struct({ displayCode: Schema.String, amount: Schema.Int }))),
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
      en: (
        { amount, cards = [], currency, displayCode, expiresAt, personalMessage, senderName },
        { locale, storeName }
      ) => ({
        subject: cards.length > 1
          ? `Your ${cards.length} gift cards for ${storeName}`
          : `Your gift card for ${storeName}`,
        paragraphs: [
          `${senderName ?? storeName} gives you ${moneyText(amount, currency, locale)} to spend.`,
          ...(personalMessage === null ? [] : [personalMessage]),
          ...(cards.length > 1 ? ["Your codes:"] : [`Your code: ${displayCode}`])
        ],
        lines: cards.length > 1
          ? cards.map((card) => ({ label: card.displayCode, amount: moneyText(card.amount, currency, locale) }))
          : [],
        notes: [
          cards.length > 1 ? "Who has a code can spend it." : "Who has the code can spend it.",
          ...(expiresAt === null ? [] : [`Valid until ${expiresAt}.`])
        ]
      })
    }
  })

const maxCodes = 500

/** The cards that are due, whose codes wait. */
const due = (now: Date) => ({
  deliveredAt: null,
  disabledAt: null,
  withdrawnAt: null,
  recipientEmail: { not: null },
  deliverAt: { lte: now }
})

type Call = Pick<PluginCall, "db" | "services">

/** A card's code, which the card forgets; null without one. */
const takeCode = Effect.fnUntraced(function*({ db }: Call, { id, initialAmount }: Card, codeFormat: string) {
  const code = yield* db.table(cards).secret(id, "code")
  yield* db.table(cards).update(id, { code: null, deliveredAt: yield* DateTime.nowAsDate })
  return code === null
    ? null
    : { displayCode: displayed(Redacted.value(code), codeFormat), amount: initialAmount }
})

/**
 * The later cards of a line that go to the same receiver, locked in the order of their ids, as every run locks them. One whose
 * code cannot be read is left out: it fails by itself.
 */
const othersOf = Effect.fnUntraced(function*({ db }: Call, { id, orderLineId, recipientEmail }: Card) {
  if (orderLineId === null) return []
  const line = yield* db.table(cards).list(
    { ...due(yield* DateTime.nowAsDate), orderLineId, recipientEmail, id: { gt: id } },
    { order: ["id"], limit: maxCodes - 1, lock: true }
  )
  return yield* Effect.filter(
    line,
    (card) => Effect.map(Effect.exit(db.table(cards).secret(card.id, "code")), Exit.isSuccess)
  )
})

/**
 * Sends the mails that are due, one for all cards of a line to one receiver. A mail is enqueued in the transaction in which its cards
 * forget their codes, so each is sent once and no code stays. Without mail in the deployment the codes wait.
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
    where: (now) => ({ ...due(now), ...(host.services.mail.isOn ? {} : { id: { in: [] } }) }),
    each: Effect.fnUntraced(function*(card, call) {
      const { currency, expiresAt, id, personalMessage, recipientEmail, senderName } = card
      const all = [card, ...(yield* othersOf(call, card))]
      const taken = yield* Effect.forEach(all, (one) => takeCode(call, one, codeFormat))
      const codes = taken.filter((one) => one !== null)
      if (codes.length === 0 || recipientEmail === null) return
      const data = {
        displayCode: codes.map(({ displayCode }) => displayCode).join(", "),
        amount: codes.reduce((sum, { amount }) => sum + amount, 0),
        ...(codes.length > 1 ? { cards: codes } : {}),
        currency,
        senderName,
        personalMessage,
        expiresAt: expiresAt === null ? null : lastDayOf(expiresAt, yield* LocalTimeZone)
      }
      yield* call.services.mail.send(template, { to: recipientEmail, data, key: id })
    })
  })
