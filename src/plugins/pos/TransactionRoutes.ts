import { DateTime, Effect, Schema } from "effect"
import {
  Conflict,
  conflict,
  CurrencyCode,
  inputOf,
  listOf,
  numbers,
  type PluginCall,
  Text,
  uuid,
  type View
} from "stoa/plugin"
import { overrideHeader, OverrideInvalid, OverrideRequired } from "./Overrides.ts"
import { PosOptions } from "./PosOptions.ts"
import { lines, payments, sale, type Transaction, transactions, TransactionView } from "./Sales.ts"
import { loadSale, shownSale, viewOf } from "./SaleStore.ts"
import { changeOf } from "./Sharing.ts"
import { lockOpen, openShift, shifts, stillOpen } from "./Shifts.ts"
import { activeTerminal, authorOf, dayOf, operate, routes } from "./Terminals.ts"

interface Numbered {
  readonly code: string
  readonly businessDate: string
}

/** `T1-20261129-0001`: a counter for each till and business day. */
export const receiptNumbers = numbers<Numbered>({
  kind: "receipt",
  period: "day",
  date: ({ businessDate }) => businessDate,
  scope: ({ code }) => code,
  format: ({ period, scope, value }) => `${scope}-${period}-${String(value).padStart(4, "0")}`
})

class OtherShift extends conflict("PosOtherShift", "The shift is at another terminal.") {}

const { orderType, type } = transactions.columns
const Start = Schema.Struct({
  shiftId: uuid.schema,
  terminalId: uuid.schema,
  ...inputOf(transactions, { optional: ["customerId", "clientId", "metadata"] }).fields,
  type: Schema.optional(type.schema),
  orderType: Schema.optional(orderType.schema),
  currency: Schema.optional(CurrencyCode)
})

/** Starts a transaction with its number. 404, 403, 409 for a closed shift; the same `clientId` gives the same one. */
export const startTransaction = Effect.fn("Transactions.start")(function*(
  call: PluginCall,
  { clientId = null, currency, shiftId, terminalId, ...rest }: typeof Start.Type,
  more: Partial<Pick<Transaction, "id" | "parentId">> = {}
) {
  const { actor, db } = call
  const known = (more.id === undefined ? undefined : yield* db.table(transactions).find(more.id)) ??
    (clientId === null ? undefined : yield* db.table(transactions).first({ clientId }))
  if (known !== undefined) return known
  const started = db.transaction(Effect.gen(function*() {
    // Before the counter of the numbers, as returns and offline sales lock them.
    // Who may split a sale was asked before.
    const shift = more.parentId === undefined
      ? yield* lockOpen(call, shiftId)
      : yield* stillOpen(yield* db.table(shifts).lock(shiftId))
    const terminal = yield* activeTerminal(db, terminalId)
    if (shift.terminalId !== terminalId) return yield* new OtherShift()
    const { defaultCurrency } = yield* PosOptions
    const businessDate = yield* dayOf(terminal, yield* DateTime.nowAsDate)
    const receiptNumber = yield* db.use(receiptNumbers).next({ code: terminal.code, businessDate })
    return yield* db.table(transactions).insert({
      ...rest,
      ...more,
      clientId,
      shiftId,
      terminalId,
      operatorId: authorOf(actor),
      currency: currency ?? defaultCurrency,
      receiptNumber,
      businessDate
    })
  }))
  if (clientId === null) return yield* started
  // Of several at once one is written, and the others find it.
  return yield* Effect.catchIf(started, isConflict, (error) =>
    Effect.flatMap(
      db.table(transactions).first({ clientId }),
      (first) => first === undefined ? Effect.fail(error) : Effect.succeed(first)
    ))
})

const isConflict = Schema.is(Conflict)

const hold = Effect.fn("Transactions.hold")(
  function*(call: PluginCall, id: string, holdLabel: string, token: string | undefined) {
    const { db } = call
    const { transaction } = yield* loadSale(db, id)
    const { spend } = yield* changeOf(call, [transaction], token)
    const held = yield* db.transaction(Effect.andThen(spend, db.use(sale).move("hold", id, { holdLabel })))
    return yield* shownSale(db, held)
  }
)

/** Brings a held sale to an open shift of any till, with its number. 404, 403, 409, 422. */
const recall = Effect.fn("Transactions.recall")(function*(call: PluginCall, id: string, shiftId: string | undefined) {
  const { db } = call
  const { transaction } = yield* loadSale(db, id)
  const shift = yield* openShift(call, shiftId ?? transaction.shiftId)
  const moved = yield* db.transaction(Effect.gen(function*() {
    yield* db.table(shifts).lock({ id: shift.id, status: "open" })
    return yield* db.use(sale).move("recall", id, {
      holdLabel: null,
      shiftId: shift.id,
      terminalId: shift.terminalId,
      operatorId: authorOf(call.actor),
      version: transaction.version + 1
    })
  }))
  return yield* shownSale(db, moved)
})

const view: View<typeof transactions, typeof TransactionView.Type> = {
  success: TransactionView,
  show: (rows, { db }) =>
    Effect.gen(function*() {
      const of = { transactionId: { in: rows.map(({ id }) => id) } }
      const [items, paid] = yield* Effect.all([
        db.table(lines).list({ ...of, removedAt: null }, { order: ["position", "id"] }),
        db.table(payments).list(of, { order: ["createdAt", "id"] })
      ])
      return rows.map((transaction) =>
        viewOf({
          transaction,
          lines: items.filter(({ transactionId }) => transactionId === transaction.id),
          payments: paid.filter(({ transactionId }) => transactionId === transaction.id)
        })
      )
    })
}

export const transactionRoutes = [
  routes.post("/transactions", {
    summary: "Start a transaction",
    description: "404 without shift or terminal; 403 for the shift of another operator; 409 for a closed one.",
    permission: operate,
    input: Start,
    strict: true,
    repeatable: true,
    success: TransactionView
  }).handle((call) => {
    const { executionId } = call.actor
    const started = startTransaction(call, call.input, executionId === undefined ? {} : { id: executionId })
    return Effect.flatMap(started, (transaction) => shownSale(call.db, transaction))
  }),
  listOf(routes, "/transactions/held", transactions, {
    summary: "List held transactions of a terminal",
    permission: operate,
    query: { terminalId: uuid.schema },
    view,
    answer: ({ db, page, query: { terminalId } }) =>
      db.table(transactions).page({ terminalId, status: "held", closingId: null }, page)
  }),
  listOf(routes, "/transactions", transactions, {
    summary: "List transactions",
    permission: operate,
    filters: ["shiftId", "status", "businessDate", "customerId", "receiptNumber"],
    view
  }),
  routes.get("/transactions/:id", {
    summary: "Get a transaction with its items and payments",
    description: "404 without it.",
    permission: operate,
    success: TransactionView
  }).handle(({ db, params }) => Effect.map(loadSale(db, params.id), viewOf)),
  routes.post("/transactions/:id/hold", {
    summary: "Hold a transaction",
    description: "404 without it; 422 when it is not open.",
    permission: operate,
    headers: overrideHeader,
    input: Schema.Struct({ label: Text }),
    strict: true,
    success: TransactionView,
    errors: [OverrideRequired, OverrideInvalid]
  }).handle((call) => hold(call, call.params.id, call.input.label, call.headers["x-pos-override"])),
  routes.post("/transactions/:id/recall", {
    summary: "Recall a held transaction",
    description:
      "To an open shift of the caller, at any till. 404, 403, 409 for a closed shift; 422 when it is not held.",
    permission: operate,
    input: Schema.NullOr(Schema.Struct({ shiftId: Schema.optional(uuid.schema) })),
    success: TransactionView
  }).handle((call) => recall(call, call.params.id, call.input?.shiftId))
]
