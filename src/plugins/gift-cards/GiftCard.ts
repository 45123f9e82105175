import { Schema, Struct } from "effect"
import {
  about,
  amount,
  balanceColumns,
  boolean,
  CustomerId,
  email,
  type Entry,
  fieldsOf,
  idOf,
  integer,
  json,
  ledger,
  longText,
  MinorUnits,
  OrderId,
  OrderLineId,
  type RowOf,
  secret,
  table,
  text,
  Time,
  timestamp,
  Uuid,
  uuid,
  type Where
} from "stoa/plugin"

const given = table("gift_cards", {
  ...balanceColumns,
  /** Digest of the code, which is the key to the money and therefore stored nowhere. */
  codeDigest: text.unique(),
  lastFour: text.about("Last four characters of the code."),
  initialAmount: amount.about("Amount that was put on it."),
  currency: text.fewValues,
  singlePurpose: boolean.default(false).about("True: taxed when it was sold, and not when it pays."),
  disabledAt: timestamp.nullable,
  withdrawnAt: timestamp.nullable.about("When its unit was given back, which ends it as long as the refund stands."),
  expiresAt: timestamp.until.nullable,
  purchaserId: idOf(CustomerId).nullable,
  recipientEmail: email.nullable.about("Address that the code is sent to."),
  senderName: text.nullable.about("Name of the giver."),
  personalMessage: longText.nullable.about("Words of the giver, sent with the code."),
  sourceOrderId: idOf(OrderId).nullable,
  orderLineId: idOf(OrderLineId).nullable,
  unit: integer.nullable.about("Number of the unit of the order line, from 0."),
  deliverAt: timestamp.nullable.about("When the code is to be sent."),
  deliveredAt: timestamp.nullable.about("When the code was sent."),
  /** Until the mail is sent. */
  code: secret.nullable,
  metadata: json.default({})
}, {
  unique: [{ columns: ["orderLineId", "unit"], where: "order_line_id is not null" }],
  indexes: [
    { columns: ["deliverAt"], where: "delivered_at is null" }
  ],
  personal: {
    of: "purchaserId",
    onErase: ["recipientEmail", "senderName", "personalMessage", "metadata"],
    keeps: ["codeDigest", "lastFour", "currency"],
    withholds: ["codeDigest"]
  },
  atMost: { unbounded: "Each card was paid for, or given by staff." },
  checks: { worth: "initial_amount > 0" }
})

/** What is on the cards. Entries: issue, top_up, adjust, redeem, refund, withdraw. */
export const money = ledger("gift_card", { account: given, floor: 0 })
export const cards = money.account
export type Card = RowOf<typeof cards>

export const mostAdded = 100

/** Cards that customers have added to their account by the code. */
export const addedCards = table("gift_card_holders", {
  cardId: uuid.references(cards),
  customerId: idOf(CustomerId)
}, {
  unique: [{ columns: ["customerId", "cardId"] }],
  personal: { of: "customerId", onErase: "delete" },
  atMost: [{
    per: "customerId",
    rows: mostAdded,
    refusal: "You can add at most 100 gift cards to your account. Remove one that is empty first."
  }]
})

export const statuses = ["active", "disabled", "exhausted", "expired"] as const
export type Status = typeof statuses[number]

const ShownStatus = Schema.Literals(statuses).annotate({
  description:
    "Only an active card pays. exhausted: nothing is left on it. disabled: by staff, or because it was refunded."
})

const usable = (now: Date): Where<typeof cards> => ({
  disabledAt: null,
  withdrawnAt: null,
  or: [{ expiresAt: null }, { expiresAt: { gt: now } }]
})

/** Cards that can pay in a currency. */
export const payingIn = (currency: string, now: Date): Where<typeof cards> => ({ ...usable(now), currency })

/** Cards of a status. */
export const ofStatus = (status: Status, now: Date): Where<typeof cards> => {
  if (status === "disabled") return { or: [{ disabledAt: { not: null } }, { withdrawnAt: { not: null } }] }
  if (status === "expired") return { disabledAt: null, withdrawnAt: null, expiresAt: { lte: now } }
  return { ...usable(now), balance: status === "exhausted" ? 0 : { gt: 0 } }
}

export const isDisabled = ({ disabledAt, withdrawnAt }: Card): boolean => disabledAt !== null || withdrawnAt !== null

export const statusOf = (card: Card, now: Date): Status => {
  if (isDisabled(card)) return "disabled"
  const { balance, expiresAt } = card
  if (expiresAt !== null && expiresAt <= now) return "expired"
  return balance === 0 ? "exhausted" : "active"
}

const minorUnits = MinorUnits.annotate({ description: "Minor units of the card's currency." })

/** What a caller with a code reads of its card. */
export const BalanceView = Schema.Struct({
  balance: minorUnits.annotate({
    description: "Amount that can be spent, without the part that open checkouts hold. Minor units."
  }),
  currency: Schema.String,
  status: ShownStatus
}).annotate({ identifier: "GiftCardBalance" })

/** A card as the API shows it: never its code. */
export const CardView = Schema.Struct({
  ...Struct.omit(fieldsOf(cards), ["codeDigest", "disabledAt", "orderLineId", "unit"]),
  maskedCode: Schema.String.pipe(about("The code with all but the last four characters hidden.")),
  version: Schema.Int.pipe(about("Counts the changes of the balance.")),
  initialAmount: minorUnits,
  balance: minorUnits,
  held: minorUnits.annotate({ description: "The part of the balance that open checkouts have set aside." }),
  status: ShownStatus,
  withdrawnAt: Schema.NullOr(Time).annotate({ description: "When its unit was refunded, which disables the card." })
}).annotate({ identifier: "GiftCard" })

const TransactionView = Schema.Struct({
  ...Struct.pick(fieldsOf(money.entries), ["id", "orderId", "note", "createdAt"]),
  giftCardId: Uuid,
  type: Schema.Literals(["debit", "credit", "refund"]).pipe(
    about("Direction of the money; a refund comes back to the card.")
  ),
  activity: Schema.String.annotate({ description: "issue, top_up, adjust, redeem, refund or withdraw" }),
  amount: minorUnits.annotate({ description: "Above 0." }),
  balanceAfter: minorUnits
}).annotate({ identifier: "GiftCardTransaction" })

export const CardWithTransactions = Schema.Struct({
  ...CardView.fields,
  transactions: Schema.Array(TransactionView).annotate({ description: "The newest 1,000." })
})

/** A new card, and its code for the only time. */
export const NewCardView = Schema.Struct({
  ...CardView.fields,
  code: Schema.String.pipe(about("The code. Only this answer has it.")),
  displayCode: Schema.String.annotate({
    description: "The code, in groups for people.",
    examples: ["ABCD-EFGH-JKMN-7K2M"]
  })
})

export const cardView = (card: Card, now: Date): typeof CardView.Type => ({
  ...card,
  maskedCode: `****-${card.lastFour}`,
  status: statusOf(card, now)
})

export const transactionView = ({ accountId, amount, type, ...entry }: Entry): typeof TransactionView.Type => ({
  ...entry,
  giftCardId: accountId,
  activity: type,
  type: type === "refund" ? type : amount > 0 ? "credit" : "debit",
  amount: Math.abs(amount)
})
