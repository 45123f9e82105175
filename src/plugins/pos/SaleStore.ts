import { Effect, Schema } from "effect"
import { isDeepStrictEqual } from "node:util"
import {
  type CollectedPaymentId,
  conflict,
  type CoreServices,
  CurrencyCode,
  type CurrentActor,
  EntityId,
  InvalidTransition,
  notFound,
  type PluginCall,
  type PluginDatabase,
  type RouteError,
  VariantId
} from "stoa/plugin"
import { leftOf, lines, netOf, type Payment, payments, type SaleLine, type Transaction, transactions } from "./Sales.ts"
import { ownShift, shifts } from "./Shifts.ts"
import { findTerminal, placeOf, type Terminal } from "./Terminals.ts"

/** A transaction with what belongs to it. */
export interface Sale {
  readonly transaction: Transaction
  readonly terminal: Terminal
  /** Without those that were removed. */
  readonly lines: ReadonlyArray<SaleLine>
  readonly payments: ReadonlyArray<Payment>
}

class TransactionNotFound extends notFound("PosTransaction", "No such transaction.") {}
class ChangedMeanwhile
  extends conflict("PosChanged", "The transaction is being changed by other requests. Try again.", { retryable: true })
{}
export const notOpen = ({ status }: Transaction) =>
  InvalidTransition.of(`The transaction is ${status}: only an open one can be changed.`)

const fixedLines = InvalidTransition.of("The goods of a return or an exchange are fixed. Void it and begin again.")

const belonging = (db: PluginDatabase, transactionId: string) =>
  Effect.all({
    lines: db.table(lines).list({ transactionId, removedAt: null }, { order: ["position", "id"] }),
    payments: db.table(payments).list({ transactionId }, { order: ["createdAt", "id"] })
  })

/** 404 without it. */
export const lockTransaction = (db: PluginDatabase, id: string) =>
  Effect.catchTag(db.table(transactions).lock(id), "NotFound/Row", () => new TransactionNotFound())

/** 404 without it. */
export const loadSale = Effect.fn("Sales.load")(function*(db: PluginDatabase, id: string) {
  const found = db.table(transactions).get(id)
  const transaction = yield* Effect.catchTag(found, "NotFound/Row", () => new TransactionNotFound())
  const terminal = yield* findTerminal(db, transaction.terminalId)
  return { transaction, terminal, ...yield* belonging(db, id) }
})

/**
 * Keeps a sale as it is until the caller's transaction ends, and reads it with the lines that were removed. `changed` makes
 * changes decide again that have seen it before. 404 without it.
 */
export const lockSale = Effect.fn("Sales.lock")(function*(db: PluginDatabase, id: string) {
  const { version } = yield* lockTransaction(db, id)
  const found = yield* loadSale(db, id)
  const removed = yield* db.table(lines).list({ transactionId: id, removedAt: { not: null } })
  const changed = Effect.asVoid(db.table(transactions).update(id, { version: version + 1 }))
  return { ...found, removed, changed }
})

/** 403 for money in the drawer of another operator, without pos:manage: recall it to a shift of one's own. */
export const requireOwn = Effect.fnUntraced(function*({ actor, db }: PluginCall, { shiftId }: Transaction) {
  yield* ownShift(actor, yield* db.table(shifts).get(shiftId))
})

/** 404; 422 unless it is open. */
export const openSale = Effect.fnUntraced(function*(db: PluginDatabase, id: string) {
  const found = yield* loadSale(db, id)
  return found.transaction.status === "open" ? found : yield* notOpen(found.transaction)
})

export const viewOf = ({ lines, payments, transaction }: Omit<Sale, "terminal">) => ({
  ...transaction,
  cartId: null,
  items: lines,
  payments,
  amountDue: transaction.status === "completed" || transaction.type === "return" ? 0 : leftOf(transaction, payments)
})

export const shownSale = (db: PluginDatabase, transaction: Transaction) =>
  Effect.map(belonging(db, transaction.id), (rest) => viewOf({ transaction, ...rest }))

type SoldTerms = Parameters<CoreServices["orders"]["quoteSold"]>[0]

/** How the core gets the money of a payment back, by its `paymentMethods`. */
export const methodOf = ({ method, provider }: Payment): string =>
  provider ?? (method === "cash" ? "pos-cash" : method === "card" ? "pos-card" : "pos-other")

/** The payments of a sale as its order keeps them: without change, tips and rounding. */
export const tendersOf = (paid: ReadonlyArray<Payment>): SoldTerms["tenders"] =>
  paid.filter(({ status }) => status === "collected").map((payment) => ({
    method: methodOf(payment),
    amount: netOf(payment) - payment.rounding,
    label: payment.label,
    reference: payment.intentId ?? payment.reference ?? payment.id,
    ...(payment.collectedId === null ? {} : { paymentId: payment.collectedId as CollectedPaymentId })
  }))

export const termsOf = Effect.fnUntraced(function*(
  call: PluginCall,
  { lines, payments, terminal, transaction }: Sale
): Effect.fn.Return<SoldTerms, never, CurrentActor> {
  const handedOverAt = yield* placeOf(terminal, call)
  return {
    currency: CurrencyCode.make(transaction.currency),
    customerId: transaction.customerId ?? undefined,
    channel: "pos",
    promotionCodes: transaction.codes,
    handedOverAt,
    tenders: tendersOf(payments),
    metadata: {
      posTransactionId: transaction.id,
      posTerminalId: terminal.id,
      posShiftId: transaction.shiftId,
      orderType: transaction.orderType
    },
    lineItems: lines.map((line) => ({
      entityId: EntityId.make(line.entityId),
      variantId: line.variantId === null ? null : VariantId.make(line.variantId),
      quantity: line.quantity,
      metadata: line.metadata,
      ...(line.notes === null ? {} : { notes: line.notes }),
      ...(line.isCustomPrice ? { isCustomPrice: true, unitPrice: line.unitPrice } : {}),
      ...(line.discountAmount === 0 ? {} : { discountAmount: line.discountAmount })
    }))
  }
})

const nothing = { subtotal: 0, discountTotal: 0, taxTotal: 0, total: 0 }

/** Prices a sale as its order will be: its totals, and its lines with the price of a unit. 404, 422. */
export const priced = Effect.fn("Sales.priced")(function*(call: PluginCall, sale: Sale) {
  const { asStore, services } = call
  if (sale.lines.length === 0) return { totals: nothing, lines: [], rejectedCodes: [] }
  const quote = yield* asStore(services.orders.quoteSold(yield* termsOf(call, sale)))
  const { discountTotal, grandTotal: total, subtotal, taxTotal } = quote
  const priceOf = (line: SaleLine) =>
    quote.lineItems.find((one) =>
      one.entityId === line.entityId && one.variantId === line.variantId && one.isCustomPrice === line.isCustomPrice &&
      isDeepStrictEqual(one.metadata, line.metadata) && (!line.isCustomPrice || one.unitPrice === line.unitPrice)
    )
  return {
    totals: { subtotal, discountTotal, taxTotal, total },
    rejectedCodes: quote.rejectedPromotionCodes,
    lines: sale.lines.map((line) => {
      const { title = line.title, unitPrice: price = 0 } = priceOf(line) ?? {}
      return { ...line, title: title.slice(0, 255), price, totalPrice: price * line.quantity }
    })
  }
})

const same = (one: SaleLine, other: SaleLine) => isDeepStrictEqual(one, other)

/** Inserts new lines and writes those that differ: two statements. */
const writeLines = Effect.fnUntraced(function*(
  db: PluginDatabase,
  before: ReadonlyArray<SaleLine>,
  after: ReadonlyArray<SaleLine>
) {
  const known = new Map(before.map((line) => [line.id, line]))
  const fresh = after.filter(({ id }) => !known.has(id))
  const changed = after.filter((line) => {
    const old = known.get(line.id)
    return old !== undefined && !same(old, line)
  })
  if (fresh.length > 0) yield* db.table(lines).insertMany(fresh.map(({ createdAt: _, ...line }) => line))
  if (changed.length > 0) {
    yield* db.table(lines).updateEach(changed.map(({ createdAt: _, transactionId: __, ...line }) => line))
  }
})

/** A change of an open sale. `lines`: all of them afterwards, removed ones with the time. */
export interface SaleChange {
  readonly lines?: ReadonlyArray<SaleLine>
  readonly transaction?: Partial<Pick<Transaction, "customerId" | "codes" | "overrideBy" | "orderType">>
  /** Runs in the transaction that writes the change. */
  readonly also?: Effect.Effect<unknown, RouteError, CurrentActor>
}

/** Retries a change when another request was faster. */
export const whileMoved = { times: 4, while: Schema.is(ChangedMeanwhile) }

/** Runs writes that expect the version that was read: 409 when another request was faster. */
export const writeDecided = <A, R>(db: PluginDatabase, writes: Effect.Effect<A, RouteError, R>) =>
  Effect.catchIf(db.transaction(writes), Schema.is(InvalidTransition), () => new ChangedMeanwhile())

/**
 * Changes an open sale and prices it again. `decide` may run again, when another request was faster. 404; 409 when others
 * keep changing it; 422 when it is not open, or has no price.
 */
export const changeSale = Effect.fn("Sales.change")(function*<E, R>(
  call: PluginCall,
  id: string,
  decide: (sale: Sale) => Effect.Effect<SaleChange, E, R>
) {
  const { db } = call
  const sale = yield* openSale(db, id)
  const { also = Effect.void, lines: next = sale.lines, transaction: change = {} } = yield* decide(sale)
  if (sale.transaction.type !== "sale" && (next !== sale.lines || Object.keys(change).length > 0)) {
    return yield* fixedLines
  }
  const kept = next.filter(({ removedAt }) => removedAt === null)
  const { lines: shown, totals } = yield* priced(call, {
    ...sale,
    transaction: { ...sale.transaction, ...change },
    lines: kept
  })
  const removed = next.filter(({ removedAt }) => removedAt !== null)
  const { version } = sale.transaction
  const transaction = yield* writeDecided(
    db,
    Effect.gen(function*() {
      const row = yield* db.table(transactions).update(
        id,
        { ...change, ...totals, version: version + 1 },
        { version, status: "open" }
      )
      yield* also
      yield* writeLines(db, sale.lines, [...shown, ...removed])
      return row
    })
  )
  return { ...sale, transaction, lines: shown }
}, Effect.retry(whileMoved))
