import { Effect, Predicate, Result, Schema } from "effect"
import { about, type Order, type PluginCall } from "stoa/plugin"
import { taxesOf } from "./Completion.ts"
import { addFiscalRecord } from "./Fiscal.ts"
import { newLine } from "./Lines.ts"
import { digestOf, OfflineSale, Refused, requirePayments, requireRight, requireTime } from "./OfflineSale.ts"
import { ownTerminal } from "./Operators.ts"
import { PosOptions } from "./PosOptions.ts"
import { lines, payments, sale, type Transaction, transactions, TransactionView } from "./Sales.ts"
import { shownSale } from "./SaleStore.ts"
import { count, shifts } from "./Shifts.ts"
import {
  authorOf,
  dayOf,
  findTerminal,
  placeOf,
  routes,
  type Terminal,
  tillOrDevice,
  warehouseOf
} from "./Terminals.ts"
import { receiptNumbers } from "./TransactionRoutes.ts"

const Outcome = Schema.Struct({
  id: Schema.String,
  status: Schema.Literals(["ok", "refused"]).pipe(about("refused: nothing was recorded, for the reason in `error`.")),
  transaction: Schema.optional(TransactionView),
  error: Schema.optional(
    Schema.Struct({ code: Schema.String.pipe(about("Kind of the error, for programs.")), message: Schema.String })
  ).pipe(about("Reason of the refusal."))
})

/** The number of the device, or the next one. */
const numberOf = Effect.fnUntraced(function*({ db }: PluginCall, terminal: Terminal, sent: OfflineSale, day: string) {
  if (sent.receiptNumber === undefined) {
    return yield* db.use(receiptNumbers).next({ code: terminal.code, businessDate: day })
  }
  const form = new RegExp(`^${RegExp.escape(`${terminal.code}-${day.replaceAll("-", "")}`)}-F\\d{4,6}$`)
  return form.test(sent.receiptNumber)
    ? sent.receiptNumber
    : yield* Effect.fail(
      new Refused("VALIDATION_FAILED", `receiptNumber must be ${terminal.code}-<yyyymmdd>-F<number>.`)
    )
})

/** The rows of a sale of the past, with its order if it was not voided. */
const write = Effect.fnUntraced(function*(
  call: PluginCall,
  terminal: Terminal,
  sent: OfflineSale,
  order: Order | undefined
) {
  const { db } = call
  const shift = yield* db.table(shifts).lock(sent.shiftId)
  const businessDate = yield* dayOf(terminal, sent.at)
  const isLate = shift.status === "closed"
  const { defaultCurrency } = yield* PosOptions
  const tip = sent.payments.reduce((sum, one) => sum + (one.tip ?? 0), 0)
  const rounding = sent.payments.reduce((sum, one) => sum + (one.rounding ?? 0), 0)
  const { id } = yield* db.table(transactions).insert({
    clientId: sent.id,
    clientDigest: digestOf(sent),
    shiftId: sent.shiftId,
    terminalId: terminal.id,
    operatorId: sent.operatorId ?? authorOf(call.actor),
    customerId: sent.customerId ?? null,
    currency: sent.currency ?? defaultCurrency,
    receiptNumber: yield* numberOf(call, terminal, sent, businessDate),
    businessDate,
    isLate,
    tipTotal: tip,
    rounding,
    metadata: { offline: true }
  })
  const made = yield* Effect.forEach(
    sent.items,
    (
      { discountAmount = 0, entityId, metadata = {}, notes = null, quantity, unitPrice = null, variantId = null },
      position
    ) =>
      Effect.map(newLine(call.actor, id, { entityId, variantId, quantity, position }), (line) => {
        const price = unitPrice ?? order?.lineItems.find((one) =>
          one.entityId === entityId && one.variantId === variantId
        )?.unitPrice ?? 0
        const priced = { isCustomPrice: unitPrice !== null, unitPrice, price, totalPrice: price * quantity }
        return { ...line, ...priced, discountAmount, notes, metadata, addedAt: sent.at }
      })
  )
  yield* db.table(lines).insertMany(made.map(({ createdAt: _, ...line }) => line))
  yield* db.table(payments).insertMany(sent.payments.map(({ reference = null, ...one }) => ({
    ...one,
    reference,
    transactionId: id,
    label: one.method,
    status: order === undefined ? "cancelled" as const : "collected" as const,
    requestedBy: authorOf(call.actor),
    processedAt: sent.at
  })))
  const done = yield* finish(call, id, sent, order)
  if (order !== undefined) yield* count(db, shift, isLate ? "late" : "sales", order.grandTotal)
  else if (!isLate) yield* count(db, shift, "voids", done.total)
  return done
})

const finish = Effect.fnUntraced(function*(
  { db }: PluginCall,
  id: string,
  { at, voidReason }: OfflineSale,
  order: Order | undefined
) {
  if (order === undefined) return yield* db.use(sale).move("void", id, { voidReason: voidReason ?? "" })
  const { discountTotal, grandTotal: total, id: orderId, subtotal, taxTotal } = order
  const totals = { orderId, discountTotal, subtotal, taxTotal, total, taxes: taxesOf(order) }
  yield* db.use(sale).move("complete", id, totals)
  const done = yield* db.table(transactions).update(id, { completedAt: at })
  yield* addFiscalRecord(db, done)
  return done
})

const sell = Effect.fnUntraced(function*(call: PluginCall, terminal: Terminal, sent: OfflineSale) {
  const { asStore, db, services } = call
  const { defaultCurrency } = yield* PosOptions
  if (sent.voidReason !== undefined) return yield* db.transaction(write(call, terminal, sent, undefined))
  let written: Transaction | undefined
  yield* asStore(services.orders.createSold({
    reference: { type: "pos.sync", id: sent.id },
    currency: sent.currency ?? defaultCurrency,
    customerId: sent.customerId,
    channel: "pos",
    warehouseId: yield* warehouseOf(terminal, call),
    handedOverAt: yield* placeOf(terminal, call),
    stock: "allow",
    metadata: { posTerminalId: terminal.id, posShiftId: sent.shiftId, offline: true },
    soldAt: sent.at,
    lineItems: sent.items.map(({ unitPrice, ...item }) => ({
      ...item,
      ...(unitPrice === undefined ? {} : { isCustomPrice: true, unitPrice })
    })),
    tenders: sent.payments.map(({ amount, changeGiven = 0, method, reference = sent.id, rounding = 0 }) => ({
      method: method === "cash" ? "pos-cash" : method === "card" ? "pos-card" : "pos-other",
      amount: amount - changeGiven - rounding,
      label: method,
      reference
    }))
  }, (order) =>
    Effect.map(write(call, terminal, sent, order), (row) => {
      written = row
    })))
  return written ?? (yield* db.table(transactions).first({ clientId: sent.id }))
})

/** Takes one sale. The same one again gives what the first time gave; another one under its id is refused. */
const take = Effect.fn("Sync.take")(function*(call: PluginCall, at: string | undefined, sent: OfflineSale) {
  const { db } = call
  const known = yield* db.table(transactions).first({ clientId: sent.id })
  if (known !== undefined) {
    return known.clientDigest === digestOf(sent)
      ? known
      : yield* Effect.fail(new Refused("CONFLICT", "Another sale was sent under this id."))
  }
  const shift = yield* db.table(shifts).get(sent.shiftId)
  if (at !== undefined && at !== shift.terminalId) {
    return yield* Effect.fail(new Refused("FORBIDDEN", "The shift is at another terminal than the device."))
  }
  yield* requireRight(call, shift, sent)
  yield* requireTime(sent, shift)
  const terminal = yield* findTerminal(db, shift.terminalId)
  yield* requirePayments(terminal, sent)
  const made = yield* sell(call, terminal, sent)
  return made ?? (yield* Effect.fail(new Refused("CONFLICT", "Another sale was sent under this id.")))
})

const Named = Schema.Struct({ code: Schema.String, message: Schema.String })
const isNamed = Schema.is(Named)

const errorOf = (failure: unknown): typeof Named.Type => {
  const inner = Predicate.hasProperty(failure, "error") ? failure.error : failure
  return isNamed(inner)
    ? { code: inner.code, message: inner.message }
    : { code: "CONFLICT", message: "It was refused." }
}

export const syncRoute = routes.post("/sync", {
  summary: "Send sales that were made offline",
  description: "Answers each in its place; a refused one stops no other. The same sale again is answered as before.",
  ...tillOrDevice,
  input: Schema.Struct({
    sales: Schema.Array(OfflineSale).check(Schema.isBetweenLength(1, 100)).pipe(
      about("Sales in the order in which they were made.")
    )
  }),
  strict: true,
  success: Schema.Array(Outcome)
}).handle((call) =>
  Effect.gen(function*() {
    const at = yield* ownTerminal(call)
    return yield* Effect.forEach(call.input.sales, (sent) =>
      Effect.gen(function*() {
        const outcome = yield* Effect.result(take(call, at, sent))
        return Result.isSuccess(outcome)
          ? { id: sent.id, status: "ok" as const, transaction: yield* shownSale(call.db, outcome.success) }
          : { id: sent.id, status: "refused" as const, error: errorOf(outcome.failure) }
      }))
  })
)
