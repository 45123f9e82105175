import { DateTime, Effect, Schema } from "effect"
import { conflict, invalid, type Order, type OrderId, OrderLineId, type PluginCall, RefundId } from "stoa/plugin"
import { addFiscalRecord } from "./Fiscal.ts"
import { approvalFor } from "./Overrides.ts"
import { type Payout, payOut, requireAmount, requireWay } from "./Payouts.ts"
import { payments, returnItems, sale, type Transaction, transactions } from "./Sales.ts"
import { lockOpen, openShift } from "./Shifts.ts"
import { activeTerminal, authorOf, dayOf, manage, SentAmount, type Terminal } from "./Terminals.ts"
import { receiptNumbers } from "./TransactionRoutes.ts"

export class FeeTooHigh extends invalid(
  "PosFeeTooHigh",
  (at: number, _worth: number) => `items.${at}.restockingFee`,
  (at: number, worth: number) => `items.${at}.restockingFee must be at most ${worth}, which the line is worth.`
) {}
class ShiftElsewhere extends conflict("PosReturnShift", "The shift is at another terminal.") {}
const { quantity, reason } = returnItems.columns

export const ReturnedItem = Schema.Struct({
  originalLineItemId: OrderLineId,
  quantity: quantity.schema,
  reason: reason.schema,
  restockingFee: Schema.optional(SentAmount.annotate({ description: "Minor units that are kept back." })),
  restock: Schema.optional(
    Schema.Boolean.annotate({ description: "Units go back into stock. Default: unless they are defective." })
  )
})
export type ReturnedItem = typeof ReturnedItem.Type

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
