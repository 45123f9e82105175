import { Effect, Result, Schema } from "effect"
import { apiError, Conflict, conflict, invalid, InvalidTransition, type Order, type PluginCall } from "stoa/plugin"
import { comingBack, type GivenRest, returnExchanged, settleRest } from "./Exchanges.ts"
import { PosExtensions } from "./Extensions.ts"
import { addFiscalRecord } from "./Fiscal.ts"
import { approvalFor } from "./Overrides.ts"
import { giveBackPayment } from "./Payments.ts"
import { PosOptions } from "./PosOptions.ts"
import { leftOf, payments, sale, type Transaction, transactions } from "./Sales.ts"
import { loadSale, notOpen, priced, requireOwn, type Sale, shownSale, termsOf } from "./SaleStore.ts"
import { count, shifts } from "./Shifts.ts"
import { authorOf, manage, warehouseOf } from "./Terminals.ts"

export class PriceChanged extends apiError(
  "PriceChanged",
  { status: 409, code: "PRICE_CHANGED" },
  (total: number, previousTotal: number) =>
    `The total is ${total} and not ${previousTotal} any more, in minor units. Read the transaction and take the rest.`,
  (total, previousTotal) => ({ total, previousTotal })
) {}
class PaymentsWait extends conflict("PosPaymentsWait", "A payment has no answer yet. Read or retry it first.") {}
class Empty extends invalid("PosEmpty", "items", "items are missing: an empty transaction cannot be completed.") {}
class Unpaid extends invalid(
  "PosUnpaid",
  "payments",
  (missing: number) => `payments are ${Math.abs(missing)} ${missing > 0 ? "less" : "more"} than the total.`
) {}
class ChangedMeanwhile
  extends conflict("PosChangedAtEnd", "The transaction was changed meanwhile. Read it, then try again.")
{}
class OtherWorth extends conflict(
  "PosOtherWorth",
  "The returned goods are worth another amount now. Void the exchange and begin again."
) {}
class ShiftEnded
  extends conflict("PosShiftEnded", "The shift of the transaction is closed. Recall it to an open shift.")
{}

/** Net and tax by rate, as the order has them. */
export const taxesOf = ({ taxes }: Pick<Order, "taxes">): Transaction["taxes"] =>
  taxes.map(({ amount, base, rate }) => ({ rateBps: Math.round(Number(rate ?? 0) * 100), net: base, tax: amount }))

const isMoved = Schema.is(InvalidTransition)

/** What a sale becomes in the transaction that makes its order. */
const finish = Effect.fnUntraced(function*(call: PluginCall, found: Sale, order: Order, given: GivenRest) {
  const { db } = call
  const { payments, transaction } = found
  const back = transaction.type === "exchange" ? yield* returnExchanged(call, transaction, order, given) : undefined
  const exchanged = payments.find(({ method }) => method === "exchange")?.amount ?? 0
  if (back !== undefined && exchanged !== Math.min(back.worth, order.grandTotal)) return yield* new OtherWorth()
  const shift = yield* db.table(shifts).lock(transaction.shiftId)
  if (shift.status !== "open") return yield* new ShiftEnded()
  const { discountTotal, grandTotal: total, subtotal, taxTotal } = order
  const done = yield* db.use(sale).move("complete", { id: transaction.id, version: transaction.version }, {
    orderId: order.id,
    subtotal,
    discountTotal,
    taxTotal,
    total,
    taxes: [...taxesOf(order), ...back?.taxes ?? []],
    refundId: back?.refundId ?? null,
    version: transaction.version + 1
  }).pipe(Effect.catchTag("NotFound/Record", () => new ChangedMeanwhile()))
  const counted = yield* count(db, shift, "sales", total)
  if (back !== undefined) yield* count(db, counted, "refunds", back.worth)
  const { all } = yield* PosExtensions
  yield* Effect.forEach(all(), ({ completing }) => completing?.(found, order) ?? Effect.void, { discard: true })
  yield* addFiscalRecord(db, done)
})

/** Shows the new total, and keeps it: the next try compares with it. */
const refuseOtherPrice = Effect.fnUntraced(function*(call: PluginCall, found: Sale) {
  const { totals } = yield* priced(call, found)
  const { id, total, version } = found.transaction
  if (totals.total === total) return
  const change = { ...totals, version: version + 1 }
  yield* Effect.catchIf(call.db.table(transactions).update(id, change, { version }), isMoved, () => Effect.void)
  return yield* new PriceChanged(totals.total, total)
})

const requirePaid = Effect.fnUntraced(function*({ lines, payments, transaction }: Sale) {
  if (lines.length === 0) return yield* new Empty()
  if (payments.some(({ status }) => status === "pending")) return yield* new PaymentsWait()
  const left = leftOf(transaction, payments)
  if (left !== 0) return yield* new Unpaid(left)
})

const isReplaced = Schema.is(Schema.Union([Conflict, InvalidTransition]))

/**
 * Completes a paid sale: its order, goods, counters and fiscal record are one transaction. Repeated or at once it gives the
 * one order. 404; 409 PRICE_CHANGED with another total than shown, with a pending payment or a closed shift; 422 when it is
 * not paid, empty, or its goods are not there.
 */
export const completeSale = Effect.fn("Sales.complete")(function*(call: PluginCall, id: string, given: GivenRest = {}) {
  const { asStore, db, services } = call
  const found = yield* loadSale(db, id)
  const { transaction } = found
  if (transaction.status === "completed") return transaction
  if (transaction.status !== "open") return yield* notOpen(transaction)
  yield* requireOwn(call, transaction)
  yield* refuseOtherPrice(call, found)
  yield* requirePaid(found)
  const { allowOversell } = yield* PosOptions
  const goods = {
    ...yield* termsOf(call, found),
    ...(transaction.type === "exchange" ? { returns: yield* comingBack(call, transaction) } : {}),
    reference: { type: "pos", id },
    warehouseId: yield* warehouseOf(found.terminal, call),
    stock: allowOversell ? "allow" as const : "refuse" as const
  }
  const made = yield* Effect.result(
    asStore(services.orders.createSold(goods, (order) => finish(call, found, order, given)))
  )
  const after = yield* db.table(transactions).get(id)
  // Of several at once one makes the order, and the others find it.
  if (Result.isSuccess(made) || (after.status === "completed" && isReplaced(made.failure))) {
    if (after.type === "exchange") yield* settleRest(call, id)
    return after
  }
  return yield* isMoved(made.failure) && after.status === "open" ? new ChangedMeanwhile() : Effect.fail(made.failure)
})

/**
 * The locked shift that a void counts on: of the sale, or once that is closed the caller's open one. Undefined: figures of a
 * closed shift stay, so only the next closing of the till counts it.
 */
const voidingShift = Effect.fnUntraced(function*({ actor, db }: PluginCall, shiftId: string) {
  const shift = yield* db.table(shifts).lock(shiftId)
  if (shift.status === "open") return shift
  const own = yield* db.table(shifts).first({ operatorId: authorOf(actor), status: "open" }, ["-createdAt"])
  const locked = own === undefined ? undefined : yield* db.table(shifts).lock(own.id)
  return locked?.status === "open" ? locked : undefined
})

/** Voids a sale once its payments were given back: 409 while one cannot be, and when another one came meanwhile. */
export const voidPaid = Effect.fn("Sales.voidPaid")(function*(
  call: PluginCall,
  { payments: paid, transaction: { id, shiftId, status } }: Sale,
  change: Pick<Transaction, "voidReason"> & Partial<Pick<Transaction, "overrideBy">>
) {
  const { db } = call
  for (const payment of paid) yield* giveBackPayment(call, payment)
  return yield* db.transaction(Effect.gen(function*() {
    const shift = yield* voidingShift(call, shiftId)
    const now = yield* db.table(transactions).lock(id)
    if (now.status !== status || now.shiftId !== shiftId) return yield* new ChangedMeanwhile()
    const kept = yield* db.table(payments).count({ transactionId: id, status: { in: ["pending", "collected"] } })
    if (kept > 0) return yield* new ChangedMeanwhile()
    const counted = shift === undefined ? { isLate: true } : { shiftId: shift.id, terminalId: shift.terminalId }
    const voided = yield* db.use(sale).move("void", id, { ...change, ...counted })
    if (shift !== undefined) yield* count(db, shift, "voids", voided.total)
    return voided
  }))
})

/** Voids a sale after every payment was given back. 404; 409 while one cannot be; 422 when it is completed or voided. */
export const voidSale = Effect.fn("Sales.void")(function*(
  call: PluginCall,
  id: string,
  reason: string,
  token: string | undefined
) {
  const { db } = call
  const found = yield* loadSale(db, id)
  const { status, voidedBy } = found.transaction
  const { executionId } = call.actor
  // A request whose process died after it had voided the sale.
  const isRepeat = executionId !== undefined && status === "voided" && voidedBy === authorOf(call.actor)
  if (isRepeat) return yield* shownSale(db, found.transaction)
  if (status !== "open" && status !== "held") return yield* notOpen(found.transaction)
  const allowed = yield* approvalFor(call, { action: "void", permission: manage, token, transactionId: id })
  const voided = yield* allowed.during(voidPaid(call, found, { voidReason: reason, overrideBy: allowed.by }))
  return yield* shownSale(db, voided)
})
