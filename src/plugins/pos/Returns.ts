import { DateTime, Effect, Option, Schema } from "effect"
import {
  about,
  conflict,
  type CurrentActor,
  invalid,
  MinorUnits,
  type NewRowOf,
  type Order,
  type OrderId,
  OrderLineId,
  type PluginCall,
  RefundId,
  Text
} from "stoa/plugin"
import { GiftCards } from "../gift-cards/index.ts"
import { addFiscalRecord } from "./Fiscal.ts"
import { type Approval, approvalFor, freely } from "./Overrides.ts"
import { PosOptions } from "./PosOptions.ts"
import { payments, returnItems, roundedTo, sale, type Transaction, transactions } from "./Sales.ts"
import { count, lockOpen, openShift, type Shift } from "./Shifts.ts"
import { activeTerminal, authorOf, dayOf, manage, type Terminal } from "./Terminals.ts"
import { receiptNumbers } from "./TransactionRoutes.ts"

class OtherAmount extends invalid(
  "PosReturnAmount",
  "payment.amount",
  (due: number) => `payment.amount must be ${due}, which the return comes to, or be left out.`
) {}
export class FeeTooHigh extends invalid(
  "PosFeeTooHigh",
  (at: number, _worth: number) => `items.${at}.restockingFee`,
  (at: number, worth: number) => `items.${at}.restockingFee must be at most ${worth}, which the line is worth.`
) {}
class ShiftElsewhere extends conflict("PosReturnShift", "The shift is at another terminal.") {}
class NoCards
  extends invalid("PosNoCards", "payment.method", "payment.method gift_card needs the option `giftCards`.")
{}

const Fee = MinorUnits.check(Schema.isBetween({ minimum: 0, maximum: 1_000_000_000_000 }))
const { quantity, reason } = returnItems.columns

export const ReturnedItem = Schema.Struct({
  originalLineItemId: OrderLineId,
  quantity: quantity.schema,
  reason: reason.schema,
  restockingFee: Schema.optional(Fee.annotate({ description: "Minor units that are kept back." })),
  restock: Schema.optional(
    Schema.Boolean.annotate({ description: "Units go back into stock. Default: unless they are defective." })
  )
})
export type ReturnedItem = typeof ReturnedItem.Type

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

/** A return of goods of an order. */
export interface LinkedReturn {
  readonly shiftId: string
  readonly terminalId: string
  readonly originalOrderId: OrderId
  readonly items: ReadonlyArray<ReturnedItem>
  readonly payment: typeof Payout.Type
}

/** What a row says of each returned item; `amounts` are worth, less fees. */
export const rowsOfItems = <Item extends Omit<ReturnedItem, "originalLineItemId">>(
  items: ReadonlyArray<Item>,
  amounts: ReadonlyArray<number>
) =>
  items.map(({ reason, restock = reason !== "defective", restockingFee = 0, ...item }, at) => ({
    ...item,
    reason,
    restock,
    restockingFee,
    refundAmount: amounts[at] ?? 0
  }))

const feesOf = (items: ReadonlyArray<ReturnedItem>): number =>
  items.reduce((sum, { restockingFee = 0 }) => sum + restockingFee, 0)

/** The refund of returned units, as the core takes it. */
export const refundOf = (items: ReadonlyArray<ReturnedItem>) => {
  const fee = feesOf(items)
  return {
    lines: items.map(({ originalLineItemId: lineItemId, quantity, reason, restock = reason !== "defective" }) => ({
      lineItemId,
      quantity,
      restock
    })),
    ...(fee === 0 ? {} : { fee }),
    reason: items.map(({ reason }) => reason).filter((one, at, all) => all.indexOf(one) === at).join(", ")
  }
}

/** What each item is worth, after its fee: 422 for a fee above the worth of its line. */
export const worthOf = (
  items: ReadonlyArray<ReturnedItem>,
  decided: ReadonlyArray<{ readonly lineItemId: string; readonly value: number }>
) =>
  Effect.forEach(items, ({ originalLineItemId, restockingFee = 0 }, at) => {
    const worth = decided.find(({ lineItemId }) => lineItemId === originalLineItemId)?.value ?? 0
    return restockingFee > worth ? new FeeTooHigh(at, worth) : Effect.succeed(worth - restockingFee)
  })

interface RatePart {
  readonly rate: string | null
  readonly net: number
  readonly tax: number
}

/** Adds up parts of the same rate. */
export const taxesByRate = (parts: ReadonlyArray<RatePart>): Transaction["taxes"] =>
  [...Map.groupBy(parts, ({ rate }) => Math.round(Number(rate ?? 0) * 100))].map(([rateBps, same]) => ({
    rateBps,
    net: same.reduce((sum, { net }) => sum + net, 0),
    tax: same.reduce((sum, { tax }) => sum + tax, 0)
  }))

/** The share of returned units in the taxes of their lines: below zero. */
export const taxesBack = ({ lineItems }: Order, items: ReadonlyArray<ReturnedItem>): Transaction["taxes"] =>
  taxesByRate(items.flatMap(({ originalLineItemId, quantity: units }) => {
    const { quantity = 1, refundedQuantity = 0, taxes = [] } = lineItems.find(({ id }) => id === originalLineItemId) ??
      {}
    // On the running total: units that come back one by one add up to the whole.
    const upTo = (whole: number, count: number) => Math.round(whole * count / quantity)
    const share = (whole: number) => upTo(whole, refundedQuantity) - upTo(whole, refundedQuantity + units)
    return taxes.map(({ amount, base, rate }) => ({ rate, net: share(base), tax: share(amount) }))
  }))

/** Writes a completed return with its number. Within a transaction in which its shift is locked. */
export const writeReturn = Effect.fnUntraced(function*(
  { actor, db }: PluginCall,
  terminal: Terminal,
  row:
    & Pick<Transaction, "shiftId" | "currency" | "orderId" | "customerId" | "total" | "taxes">
    & Partial<Pick<Transaction, "id" | "refundId" | "overrideBy">>
) {
  const businessDate = yield* dayOf(terminal, yield* DateTime.nowAsDate)
  const receiptNumber = yield* db.use(receiptNumbers).next({ code: terminal.code, businessDate })
  const { id } = yield* db.table(transactions).insert({
    ...row,
    type: "return",
    terminalId: terminal.id,
    operatorId: authorOf(actor),
    subtotal: row.total,
    taxTotal: row.taxes.reduce((sum, { tax }) => sum - tax, 0),
    receiptNumber,
    businessDate
  })
  const done = yield* db.use(sale).move("return", id)
  yield* addFiscalRecord(db, done)
  return done
})

/** The active till of an open shift of the caller. 404, 403, 409, 422. */
export const terminalOfShift = Effect.fnUntraced(function*(call: PluginCall, terminalId: string, shiftId: string) {
  const terminal = yield* activeTerminal(call.db, terminalId)
  return (yield* openShift(call, shiftId)).terminalId === terminalId ? terminal : yield* new ShiftElsewhere()
})

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

/** What a request of the same key made whose answer was lost; its gift card is in the list of cards. */
export const madeBefore = Effect.fnUntraced(function*({ actor, asStore, db, organizationId, services }: PluginCall) {
  const { executionId: id } = actor
  const transaction = id === undefined ? undefined : yield* db.table(transactions).find(id)
  if (id === undefined || transaction === undefined) return undefined
  const [payment] = yield* db.table(payments).list({ transactionId: id })
  if (payment === undefined) return undefined
  const returned = yield* db.table(returnItems).list({ transactionId: id }, { order: ["createdAt", "id"] })
  if (payment.method === "original" && transaction.refundId !== null) {
    yield* asStore(services.refunds.settle({ refundId: RefundId.make(transaction.refundId), organizationId }))
  }
  return { transaction, returnItems: returned, refundTotal: transaction.total, payment }
})

/**
 * Takes goods of an order back. Refund, units, counters and the return are one transaction; the provider is asked after
 * it. 404; 403; 409 for a closed shift, and when nothing is left to give back; 422.
 */
export const returnGoods = Effect.fn("Returns.make")(function*(
  call: PluginCall,
  { items, originalOrderId, payment: payout, shiftId, terminalId }: LinkedReturn,
  token: string | undefined
) {
  const { asStore, db, services } = call
  const before = yield* madeBefore(call)
  if (before !== undefined) return before
  const allowed = yield* approvalFor(call, { action: "return", permission: manage, token })
  const way = yield* requireWay(call, payout.method, allowed, token)
  const terminal = yield* terminalOfShift(call, terminalId, shiftId)
  const order = yield* asStore(services.orders.get(originalOrderId))
  const refund = refundOf(items)
  const isOutside = payout.method !== "original"
  const givenOutside = {
    means: `${payout.method.replace("_", " ")} at till ${terminal.code}`,
    reference: payout.reference
  }
  const made = yield* db.transaction(Effect.gen(function*() {
    yield* allowed.spend
    yield* way.spend
    const written = yield* asStore(
      services.refunds.request(originalOrderId, { ...refund, ...(isOutside ? { givenOutside } : {}) })
    )
    const { amount: total, lines } = written.decided
    yield* requireAmount(payout, total)
    const amounts = yield* worthOf(items, lines)
    const shift = yield* lockOpen(call, shiftId)
    const transaction = yield* writeReturn(call, terminal, {
      ...(call.actor.executionId === undefined ? {} : { id: call.actor.executionId }),
      shiftId,
      currency: order.currency,
      orderId: originalOrderId,
      customerId: order.customerId,
      total,
      taxes: taxesBack(order, items),
      refundId: written.refundId,
      overrideBy: allowed.by
    })
    const rows = rowsOfItems(items, amounts).map((row) => ({ ...row, originalOrderId }))
    return { ...yield* payOut(call, [transaction, shift], rows, { payout, terminal }), ...written }
  }))
  const { decided: _, refundId, settled, ...answer } = made
  if (!settled && !isOutside) {
    const { organizationId } = call
    yield* asStore(services.refunds.settle({ refundId, organizationId }))
  }
  return answer
})
