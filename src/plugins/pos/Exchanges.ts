import { DateTime, Effect, Schema, Struct } from "effect"
import {
  about,
  CurrencyCode,
  CustomerId,
  EntityId,
  holds,
  invalid,
  MinorUnits,
  type Order,
  OrderId,
  OrderLineId,
  type PluginCall,
  RefundId,
  Text,
  uuid,
  VariantId
} from "stoa/plugin"
import { newLine } from "./Lines.ts"
import { givenBack, issueCard, Payout, requireCards } from "./Payouts.ts"
import { PosOptions } from "./PosOptions.ts"
import { refundOf, ReturnedItem, rowsOfItems, taxesBack, worthOf } from "./Returns.ts"
import { lines, payments, returnItems, sale, type Transaction, transactions } from "./Sales.ts"
import { loadSale, priced } from "./SaleStore.ts"
import { authorOf, findTerminal, manage, SentAmount } from "./Terminals.ts"
import { startTransaction } from "./TransactionRoutes.ts"

class OtherCurrency extends invalid("PosExchangeCurrency", "currency", "currency must be that of the order.") {}
class NothingComesBack extends invalid("PosExchangeItems", "returnItems", "returnItems of the exchange are missing.") {}

export const NewExchange = Schema.Struct({
  shiftId: uuid.schema,
  terminalId: uuid.schema,
  originalOrderId: OrderId,
  currency: Schema.optional(CurrencyCode),
  customerId: Schema.optional(CustomerId),
  returnItems: Schema.Array(ReturnedItem).check(Schema.isBetweenLength(1, 500)).pipe(
    about("Lines of the order that come back.")
  ),
  replacementItems: Schema.Array(Schema.Struct({
    entityId: EntityId,
    variantId: Schema.optional(Schema.NullOr(VariantId)),
    quantity: lines.columns.quantity.schema,
    sku: Schema.optional(Text),
    title: Schema.optional(Text),
    unitPrice: Schema.optional(
      SentAmount.annotate({
        description: "In place of the store's, in minor units; without effect without pos:manage."
      })
    ),
    taxAmount: Schema.optional(MinorUnits.annotate({ description: "Without effect: the store's taxes count." }))
  })).check(Schema.isBetweenLength(1, 500)).pipe(about("Goods that the customer takes for them.")),
  payment: Schema.optional(
    Payout.annotate({ description: "How the rest goes back. Default: cash, with `refundTo` original." })
  )
})

/** How the rest of an exchange shall go back. */
export const payoutOf = Effect.fnUntraced(function*({ payment }: Pick<typeof NewExchange.Type, "payment">) {
  const { refundTo } = yield* PosOptions
  const fallback: typeof Payout.Type = { method: refundTo === "original" ? "original" : "cash" }
  return payment ?? fallback
})

/**
 * Writes an exchange: a sale of the replacement, which the worth of the return pays up to its total. 404; 403; 409 for a
 * closed shift, and when nothing is left to give back; 422.
 */
export const startExchange = Effect.fn("Exchanges.start")(function*(
  call: PluginCall,
  sent: typeof NewExchange.Type,
  overrideBy: string | null
) {
  const { asStore, db, services } = call
  const { originalOrderId, replacementItems, shiftId, terminalId } = sent
  const payment = yield* payoutOf(sent)
  yield* requireCards(payment.method)
  const order = yield* asStore(services.orders.get(originalOrderId))
  const { amount: worth, lines: decided } = yield* asStore(
    services.refunds.preview(originalOrderId, refundOf(sent.returnItems))
  )
  const amounts = yield* worthOf(sent.returnItems, decided)
  const { currency = CurrencyCode.make(order.currency), customerId = order.customerId } = sent
  if (currency !== order.currency) return yield* new OtherCurrency()
  const { executionId } = call.actor
  const head = { shiftId, terminalId, currency, customerId, type: "exchange" as const }
  const { id } = yield* startTransaction(call, head, executionId === undefined ? {} : { id: executionId })
  const setsPrices = holds(call.actor, manage)
  const write = Effect.gen(function*() {
    const fresh = yield* Effect.forEach(
      replacementItems,
      ({ entityId, quantity, unitPrice, variantId = null }, position) =>
        Effect.map(
          newLine(call.actor, id, { entityId, variantId, quantity, position }),
          (line) => setsPrices && unitPrice !== undefined ? { ...line, isCustomPrice: true, unitPrice } : line
        )
    )
    const { lines: shown, totals } = yield* priced(call, { ...yield* loadSale(db, id), lines: fresh })
    const returned = rowsOfItems(sent.returnItems, amounts).map((row) => ({
      ...row,
      transactionId: id,
      originalOrderId
    }))
    yield* db.transaction(Effect.gen(function*() {
      yield* db.table(lines).insertMany(shown.map(({ createdAt: _, ...line }) => line))
      yield* db.table(returnItems).insertMany(returned)
      yield* db.table(payments).insert({
        transactionId: id,
        method: "exchange",
        provider: "pos-exchange",
        amount: Math.min(worth, totals.total),
        label: "Returned goods",
        reference: originalOrderId,
        metadata: { reference: payment.reference ?? null },
        requestedBy: authorOf(call.actor),
        processedAt: yield* DateTime.nowAsDate
      })
      yield* db.table(transactions).update(id, { ...totals, overrideBy, payout: payment.method })
    }))
    return { id, worth, total: totals.total }
  })
  return yield* Effect.tapError(write, () => db.use(sale).move("void", id, { voidReason: "The exchange was refused." }))
})

/** What a request of the same key wrote, whose process died. */
export const begunExchange = Effect.fnUntraced(function*({ actor: { executionId: id }, db }: PluginCall) {
  const transaction = id === undefined ? undefined : yield* db.table(transactions).find(id)
  if (id === undefined || transaction === undefined) return undefined
  const back = yield* db.table(returnItems).list({ transactionId: id })
  const worth = back.reduce((sum, { refundAmount }) => sum + refundAmount, 0)
  return back.length === 0 ? undefined : { id, total: transaction.total, worth }
})

/** What comes back, for the sale that takes it: its stock is locked together with that of the replacement. */
export const comingBack = Effect.fnUntraced(function*({ asStore, db, services }: PluginCall, { id }: Transaction) {
  const back = yield* db.table(returnItems).list({ transactionId: id })
  const orderId = back[0]?.originalOrderId ?? null
  if (orderId === null) return yield* new NothingComesBack()
  const { lineItems } = yield* asStore(services.orders.get(orderId))
  const goods = lineItems.filter((line) => back.some(({ originalLineItemId }) => originalLineItemId === line.id))
  return { orderId, goods: goods.map(Struct.pick(["entityId", "variantId"])) }
})

type Items = ReadonlyArray<typeof ReturnedItem.Type>

/**
 * The refund of an exchange: what pays for the replacement is given outside, and the rest too unless it goes back to the
 * payments of the order.
 */
const refundExchanged = Effect.fnUntraced(function*(
  { asStore, services: { refunds } }: PluginCall,
  { payout, receiptNumber }: Transaction,
  orderId: OrderId,
  items: Items,
  total: number
) {
  const whole = refundOf(items)
  const { amount: worth } = yield* asStore(refunds.preview(orderId, whole))
  const givenOutside = { means: "Exchange", reference: receiptNumber }
  const rest = worth - total
  if (rest <= 0 || payout !== "original") {
    const { refundId } = yield* asStore(refunds.request(orderId, { ...whole, givenOutside }))
    return { refundId, rest, worth, restId: null }
  }
  const { refundId } = yield* asStore(refunds.request(
    orderId,
    total === 0 ? whole : { ...Struct.omit(whole, ["fee"]), amount: total, givenOutside }
  ))
  if (total === 0) return { refundId, rest, worth, restId: refundId }
  const { refundId: restId } = yield* asStore(refunds.request(orderId, { amount: rest, reason: whole.reason }))
  return { refundId, rest, worth, restId }
})

/** What a completed exchange gave: the code of a gift card, which no row has. */
export interface GivenRest {
  giftCard?: { readonly id: string; readonly code: string; readonly displayCode: string }
}

/** The return of an exchange, in the transaction that makes its replacement. Returns what it is worth. */
export const returnExchanged = Effect.fnUntraced(function*(
  call: PluginCall,
  transaction: Transaction,
  replacement: Order,
  given: GivenRest
) {
  const { actor, asStore, db, services } = call
  const { id: transactionId } = transaction
  const back = yield* db.table(returnItems).list({ transactionId }, { order: ["createdAt", "id"] })
  const [first] = back
  const orderId = first?.originalOrderId ?? null
  if (orderId === null) return yield* new NothingComesBack()
  const items = back.flatMap(({ originalLineItemId, quantity, reason, restock, restockingFee }) =>
    originalLineItemId === null ? [] : [{
      originalLineItemId: OrderLineId.make(originalLineItemId),
      quantity,
      reason,
      restock,
      ...(restockingFee === 0 ? {} : { restockingFee })
    }]
  )
  const original = yield* asStore(services.orders.get(orderId))
  const { refundId, rest, restId, worth } = yield* refundExchanged(
    call,
    transaction,
    orderId,
    items,
    replacement.grandTotal
  )
  if (rest > 0) {
    const { payout } = transaction
    const method = payout ?? "cash"
    const exchange = yield* db.table(payments).first({ transactionId, method: "exchange" })
    const reference = exchange?.metadata["reference"]
    if (method === "gift_card") Object.assign(given, yield* issueCard(call, { ...original, orderId }, rest))
    yield* db.table(payments).insert({
      transactionId,
      method,
      status: "refunded",
      ...givenBack(yield* findTerminal(db, transaction.terminalId), method, rest),
      label: "Rest of the exchange",
      reference: typeof reference === "string" ? reference : null,
      // Settled after the commit, by the core if this process dies.
      intentId: restId,
      requestedBy: authorOf(actor),
      processedAt: yield* DateTime.nowAsDate
    })
  }
  return { refundId, worth, taxes: taxesBack(original, items) }
})

/** Asks the payments of the order for the rest that goes back to them. */
export const settleRest = Effect.fnUntraced(function*(
  { asStore, db, organizationId, services }: PluginCall,
  transactionId: string
) {
  const rest = yield* db.table(payments).first({ transactionId, method: "original", status: "refunded" })
  if (rest === undefined || rest.intentId === null) return
  yield* asStore(services.refunds.settle({ refundId: RefundId.make(rest.intentId), organizationId }))
})
