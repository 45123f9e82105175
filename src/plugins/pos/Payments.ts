import { DateTime, Effect, Result, Schema } from "effect"
import {
  about,
  conflict,
  CurrencyCode,
  invalid,
  newId,
  type NewRowOf,
  notFound,
  OrderId,
  type PluginCall,
  Text
} from "stoa/plugin"
import { end, keyOf, PaymentPending, PaymentRefused } from "./PaymentOutcomes.ts"
import { PosOptions } from "./PosOptions.ts"
import { askReader, cancelOnReader, goingBack, startOnReader, terminalOf } from "./ReaderPayments.ts"
import { leftOf, methods, type Payment, payments, roundedTo, transactions } from "./Sales.ts"
import {
  changeSale,
  loadSale,
  openSale,
  requireOwn,
  type Sale,
  termsOf,
  whileMoved,
  writeDecided
} from "./SaleStore.ts"
import { authorOf, SentAmount } from "./Terminals.ts"

class PaymentNotFound extends notFound("PosPayment", "The transaction has no such payment.") {}
export class OfExchange
  extends conflict("PosOfExchange", "The returned goods of an exchange pay it. Void the exchange to take them back.")
{}
class Nothing extends invalid("PosAmountNeeded", "amount", "amount without change must be above 0.") {}
class NothingLeft extends conflict("PosNothingLeft", "Nothing is left to pay.") {}
class TooMuch extends invalid(
  "PosTooMuch",
  "amount",
  (left: number) => `amount without change must be at most ${left}, which is left to pay.`
) {}
class ChangeOfCash
  extends invalid("PosChangeTooHigh", "changeGiven", "changeGiven is for cash, and at most the amount.")
{}
class ReferenceNeeded extends invalid(
  "PosReference",
  "reference",
  (method: string) => `reference is required for a payment by ${method}.`,
  "required"
) {}
class ReaderNeeded extends invalid("PosReader", "readerId", "readerId is required with a provider.", "required") {}
class NoTips extends invalid("PosNoTips", "tip", "tip: this terminal takes no tips (tipMode).") {}

export const NewPayment = Schema.Struct({
  method: Schema.Literals(methods).pipe(about("Means that the customer pays with.")),
  amount: SentAmount.annotate({
    description:
      "Amount that is handed over, in minor units. A gift card with less pays what it has; the answer says so."
  }),
  changeGiven: Schema.optional(SentAmount.annotate({ description: "Change of a payment in cash." })),
  tip: Schema.optional(SentAmount.annotate({ description: "Beside the amount, of cash and cards." })),
  reference: Schema.optional(
    Text.annotate({
      description: "The slip of a card, the code of a gift card, or how another payment is found again."
    })
  ),
  provider: Schema.optional(
    Text.annotate({ description: "Card terminals that shall take it. Default: an external one." })
  ),
  readerId: Schema.optional(Text),
  metadata: Schema.optional(payments.columns.metadata.sent)
})
type NewPayment = typeof NewPayment.Type

/** What cash was rounded by when it pays the rest. */
const cashRounding = ({ terminal }: Sale, left: number, net: number): number => {
  const rounded = roundedTo(left, terminal.cashRounding)
  return net === rounded ? rounded - left : 0
}

const labels = { cash: "Cash", card: "Card", gift_card: "Gift card", store_credit: "Store credit", other: "Other" }

type Begun = NewRowOf<typeof payments> & Pick<Payment, "rounding" | "tip">

/** The payment as it is written before anybody is asked. */
const begun = Effect.fnUntraced(function*(call: PluginCall, id: string, sale: Sale, sent: NewPayment) {
  const { amount, changeGiven = 0, method, provider, readerId = null, reference = null, tip = 0 } = sent
  const left = leftOf(sale.transaction, sale.payments)
  if (changeGiven > 0 && (method !== "cash" || changeGiven > amount)) return yield* new ChangeOfCash()
  if (tip > 0 && sale.terminal.tipMode === "off") return yield* new NoTips()
  const isStored = method === "gift_card" || method === "store_credit"
  if ((isStored || method === "other") && reference === null) return yield* new ReferenceNeeded(method)
  if (provider !== undefined) {
    yield* terminalOf(provider)
    if (readerId === null) return yield* new ReaderNeeded()
  }
  const net = amount - changeGiven
  const rounding = method === "cash" ? cashRounding(sale, left, net) : 0
  if (left + rounding <= 0 && !(net === 0 && rounding < 0)) return yield* new NothingLeft()
  if (net === 0 && rounding === 0) return yield* new Nothing()
  if (!isStored && net > left + rounding) return yield* new TooMuch(left)
  const isAsked = isStored || provider !== undefined
  return {
    id,
    transactionId: sale.transaction.id,
    method,
    status: isAsked ? "pending" : "collected",
    amount: isStored ? Math.min(amount, left) : amount,
    changeGiven,
    tip,
    rounding,
    label: labels[method],
    // A code is the key to money: only the adapter that conceals it gets it.
    reference: isStored ? null : reference,
    provider: isStored ? "gift-card" : provider === undefined ? null : `pos-${provider}`,
    intentId: null,
    collectedId: null,
    readerId,
    failure: null,
    requestedBy: authorOf(call.actor),
    processedAt: isAsked ? null : yield* DateTime.nowAsDate,
    metadata: sent.metadata ?? {}
  } satisfies Begun
})

/** Writes what `decide` makes of an open sale. */
const writePayment = Effect.fnUntraced(function*<E, R>(
  call: PluginCall,
  transactionId: string,
  decide: (sale: Sale) => Effect.Effect<Begun, E, R>
) {
  const { db } = call
  const sale = yield* openSale(db, transactionId)
  yield* requireOwn(call, sale.transaction)
  const row = yield* decide(sale)
  const { rounding, tipTotal, version } = sale.transaction
  const change = { version: version + 1, rounding: rounding + row.rounding, tipTotal: tipTotal + row.tip }
  return yield* writeDecided(
    db,
    Effect.andThen(
      db.table(transactions).update(transactionId, change, { version, status: "open" }),
      db.table(payments).insert(row)
    )
  )
}, Effect.retry(whileMoved))

/**
 * The most of an amount that a card may pay whose goods are not taxed again: the total falls with it, and is not paid
 * twice. Found in a few steps, because each unit takes less than a unit of tax off.
 */
const untaxedAmount = Effect.fnUntraced(function*(call: PluginCall, payment: Payment) {
  const { asStore, db, services: { orders } } = call
  const sale = yield* loadSale(db, payment.transactionId)
  if (sale.transaction.taxTotal === 0 || sale.lines.length === 0) return payment.amount
  const others = sale.payments.filter(({ id }) => id !== payment.id)
  const terms = yield* termsOf(call, sale)
  let [most, tried] = [0, payment.amount]
  for (let step = 0; step < 6; step++) {
    const { grandTotal: total } = yield* asStore(orders.quoteSold(terms, tried))
    const left = Math.max(0, Math.min(payment.amount, leftOf({ ...sale.transaction, total }, others)))
    if (tried <= left) most = Math.max(most, tried)
    if (tried === left) break
    tried = left
  }
  return most
})

/** Asks the payments of the core; `token` is the code, which no row has. */
const collectStored = Effect.fnUntraced(function*(call: PluginCall, payment: Payment, token: string | null) {
  const { asStore, db, services } = call
  const { transaction } = yield* loadSale(db, payment.transactionId)
  const { maxHoldHours } = yield* PosOptions
  const orderId = yield* services.orders.soldId({ type: "pos", id: transaction.id })
  const collected = yield* Effect.result(asStore(services.payments.collect({
    key: keyOf(payment),
    method: "gift-card",
    token,
    amount: payment.amount,
    // A sale without a price is refused when it is completed.
    untaxedAmount: yield* Effect.orElseSucceed(untaxedAmount(call, payment), () => payment.amount),
    currency: CurrencyCode.make(transaction.currency),
    orderId: OrderId.make(orderId),
    claimHours: maxHoldHours + 24
  })))
  const processedAt = yield* DateTime.nowAsDate
  if (Result.isFailure(collected)) {
    const { failure } = collected
    if (failure._tag === "PaymentUnknown") return yield* new PaymentPending()
    const message = failure._tag === "PaymentDeclined" ? failure.message : failure.error.message
    yield* end(call, payment, { status: "failed", failure: message, processedAt })
    return yield* failure._tag === "PaymentDeclined" ? new PaymentRefused(message) : Effect.fail(failure)
  }
  const { amount, id: collectedId, intentId, label } = collected.success
  const after = yield* end(call, payment, {
    status: "collected",
    amount,
    collectedId,
    intentId,
    label,
    processedAt
  })
  // It was removed before the core knew of it.
  if (after.status !== "collected") {
    yield* asStore(services.payments.giveBack(keyOf(payment)))
    return after
  }
  // Single-purpose cards were taxed when they were sold: what they pay for is not taxed again.
  yield* changeSale(call, payment.transactionId, () => Effect.succeed({}))
  return after
})

/** Asks again what became of a pending payment. */
export const settlePayment = (call: PluginCall, payment: Payment, token: string | null = null) => {
  if (payment.status !== "pending") return Effect.succeed(payment)
  if (payment.failure === goingBack) return cancelOnReader(call, payment)
  return payment.provider === "gift-card" ? collectStored(call, payment, token) : askReader(call, payment)
}

/**
 * Adds a payment to an open sale. A repeat of a request that died asks about the same payment. 404; 409 while it has no
 * answer; 422 for more than is left, and when it is declined.
 */
export const addPayment = Effect.fn("Payments.add")(function*(call: PluginCall, id: string, sent: NewPayment) {
  const paymentId = call.actor.executionId ?? newId()
  const known = yield* call.db.table(payments).find({ id: paymentId, transactionId: id })
  const payment = known ?? (yield* writePayment(call, id, (sale) => begun(call, paymentId, sale, sent)))
  if (payment.status !== "pending") return payment
  return payment.provider === "gift-card"
    ? yield* collectStored(call, payment, sent.reference ?? null)
    : yield* startOnReader(call, payment)
})

export const paymentOf = Effect.fnUntraced(function*({ db }: PluginCall, transactionId: string, id: string) {
  return (yield* db.table(payments).find({ id, transactionId })) ?? (yield* new PaymentNotFound())
})

/** Gives a payment back that no order has; cash comes out of the drawer by hand. 409 while it cannot be given back. */
export const giveBackPayment = Effect.fn("Payments.giveBack")(function*(call: PluginCall, payment: Payment) {
  if (payment.status !== "pending" && payment.status !== "collected") return payment
  if (payment.provider === "gift-card") {
    const { isGivenBack } = yield* Effect.catchTag(
      call.asStore(call.services.payments.giveBack(keyOf(payment))),
      "NotFound/CollectedPayment",
      () => Effect.succeed({ isGivenBack: true })
    )
    if (!isGivenBack) return yield* new PaymentPending()
  } else if (payment.provider !== null && payment.method === "card") {
    return yield* cancelOnReader(call, payment)
  }
  return yield* end(call, payment, { status: "cancelled", processedAt: yield* DateTime.nowAsDate })
})
