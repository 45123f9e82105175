import { DateTime, Effect, Option, Schema } from "effect"
import { about, type CurrentActor, invalid, MinorUnits, type NewRowOf, type PluginCall, Text } from "stoa/plugin"
import { GiftCards } from "../gift-cards/index.ts"
import { type Approval, approvalFor, freely } from "./Overrides.ts"
import { PosOptions } from "./PosOptions.ts"
import { payments, returnItems, roundedTo, type Transaction } from "./Sales.ts"
import { count, type Shift } from "./Shifts.ts"
import { authorOf, type Terminal } from "./Terminals.ts"

class OtherAmount extends invalid(
  "PosReturnAmount",
  "payment.amount",
  (due: number) => `payment.amount must be ${due}, which the return comes to, or be left out.`
) {}
class NoCards
  extends invalid("PosNoCards", "payment.method", "payment.method gift_card needs the option `giftCards`.")
{}

export const Payout = Schema.Struct({
  method: Schema.Literals(["cash", "original", "gift_card", "other"]).annotate({
    description:
      "original: by the payments of the order. gift_card: on a new card (option `giftCards`). Others are given " +
      "at the till, and no provider is asked."
  }),
  amount: Schema.optional(
    MinorUnits.annotate({ description: "Amount that the return comes to; another one is refused." })
  ),
  reference: Schema.optional(Text).pipe(about("Number of the slip."))
}).annotate({ description: "Way by which the money goes back." })

export const requireAmount = ({ amount }: typeof Payout.Type, total: number) =>
  amount === undefined || amount === total ? Effect.void : new OtherAmount(total)

/** What is handed over of a refund: cash is rounded to the smallest coin. */
export const givenBack = ({ cashRounding }: Terminal, method: string, total: number) => {
  const amount = method === "cash" ? roundedTo(total, cashRounding) : total
  return { amount, rounding: amount - total }
}

/** What ways other than `original` need where the store forbids them. */
export const requireWay = Effect.fnUntraced(function*(
  call: PluginCall,
  method: (typeof Payout.Type)["method"],
  allowed: Approval,
  token: string | undefined
): Effect.fn.Return<Approval, Effect.Error<ReturnType<typeof approvalFor>>, PosOptions | CurrentActor> {
  const { refundTo } = yield* PosOptions
  // A supervisor who allowed the return saw how it is paid out.
  if (refundTo === "any" || method === "original" || allowed.by !== null) return freely
  return yield* approvalFor(call, { action: "refund", permission: "pos:admin", token })
})

/** 422 for a way that this deployment does not have. */
export const requireCards = Effect.fnUntraced(function*(method: (typeof Payout.Type)["method"]) {
  if (method === "gift_card" && Option.isNone(yield* Effect.serviceOption(GiftCards))) return yield* new NoCards()
})

/** A new gift card with the money of a return, in its transaction. */
export const issueCard = Effect.fnUntraced(
  function*(
    { asStore }: PluginCall,
    { currency, customerId, orderId }: Pick<Transaction, "currency" | "customerId" | "orderId">,
    amount: number
  ) {
    const cards = Option.getOrUndefined(yield* Effect.serviceOption(GiftCards))
    if (cards === undefined) return yield* new NoCards()
    const [made] = yield* asStore(
      cards.write([{ amount, currency, purchaserId: customerId, sourceOrderId: orderId }])
    )
    return made === undefined ? {} : { giftCard: { id: made.card.id, code: made.code, displayCode: made.displayCode } }
  }
)

/** Pays a return out, in its transaction: its items, the money that it gave, and what its shift counts. */
export const payOut = Effect.fnUntraced(function*(
  call: PluginCall,
  [transaction, shift]: readonly [Transaction, Shift],
  rows: ReadonlyArray<Omit<NewRowOf<typeof returnItems>, "transactionId">>,
  { payout, terminal }: { readonly payout: typeof Payout.Type; readonly terminal: Terminal }
) {
  const { actor, db } = call
  const { id: transactionId, total } = transaction
  const returned = yield* db.table(returnItems).insertMany(rows.map((row) => ({ ...row, transactionId })))
  const payment = yield* db.table(payments).insert({
    transactionId,
    method: payout.method,
    status: "refunded",
    ...givenBack(terminal, payout.method, total),
    label: payout.method === "original" ? "Original payment" : `Refund, ${payout.method.replace("_", " ")}`,
    reference: payout.reference ?? null,
    requestedBy: authorOf(actor),
    processedAt: yield* DateTime.nowAsDate
  })
  yield* count(db, shift, "refunds", total)
  const card = payout.method === "gift_card" && total > 0 ? yield* issueCard(call, transaction, total) : {}
  return { transaction, returnItems: returned, payment, refundTotal: total, ...card }
})
