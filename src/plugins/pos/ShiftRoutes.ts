import { DateTime, Effect, Schema, Struct } from "effect"
import {
  about,
  conflict,
  CurrentActor,
  fieldsOf,
  holds,
  listOf,
  MinorUnits,
  newId,
  type PluginCall,
  Text,
  uuid,
  visibleRows
} from "stoa/plugin"
import { PosExtensions } from "./Extensions.ts"
import { Figures, figuresOf } from "./FiguresRepo.ts"
import { endLogins } from "./Logins.ts"
import { approvalFor, overrideHeader, OverrideInvalid, OverrideRequired } from "./Overrides.ts"
import { PosOptions } from "./PosOptions.ts"
import { lines, payments, sale, transactions } from "./Sales.ts"
import {
  CashEvent,
  cashEvents,
  logins,
  type NewShift,
  noteCash,
  ownShift,
  type Shift,
  shiftMachine,
  shifts,
  startShift
} from "./Shifts.ts"
import { activeTerminal, admin, authorOf, findTerminal, manage, operate, routes, SentAmount } from "./Terminals.ts"

class SalesOpen extends conflict(
  "PosSalesOpen",
  (numbers: string) => `These sales are open. Complete, hold or void them first: ${numbers}.`
) {}

/** A shift; what its drawer should hold is null for those who count blindly. */
const ShiftView = Schema.Struct(fieldsOf(shifts)).annotate({ identifier: "PosShift" })
const CashEventView = Schema.Struct(fieldsOf(cashEvents))

const { firstReceipt: _, lastReceipt: __, cash, ...counted } = Figures.fields
const Report = Schema.Struct({
  shift: ShiftView,
  cashEvents: Schema.Array(CashEventView).pipe(about("Cash that went in or out without a sale, in order.")),
  paymentMethodTotals: Schema.Array(Schema.Struct({
    method: Schema.String.pipe(about("Means of the payments, such as cash.")),
    total: MinorUnits,
    count: Schema.Int
  })).pipe(about("Payments of sales by means.")),
  transactionCount: Schema.Int,
  ...counted,
  cash: Schema.Struct({
    ...Struct.omit(cash.fields, ["expected"]),
    expected: Schema.NullOr(MinorUnits),
    counted: Schema.NullOr(MinorUnits),
    variance: Schema.NullOr(MinorUnits)
  }).pipe(about("Cash of the drawer."))
}).annotate({ identifier: "PosShiftReport" })

const isBlind = (call: PluginCall) =>
  Effect.map(PosOptions, ({ blindClose }) => blindClose && !holds(call.actor, manage))

const shownShift = (call: PluginCall, shift: Shift) =>
  Effect.map(isBlind(call), (blind) => blind ? { ...shift, expectedCash: null, cashVariance: null } : shift)

/** Opens a shift, which the key of a login belongs to from then on. */
const open = Effect.fn("Shifts.openBy")(function*(call: PluginCall, { id = newId(), ...wanted }: NewShift) {
  const { all } = yield* PosExtensions
  const terminal = yield* activeTerminal(call.db, wanted.terminalId)
  yield* Effect.forEach(all(), ({ shiftOpening }) => shiftOpening?.(id, terminal) ?? Effect.void)
  const shift = yield* startShift(call, { id, ...wanted })
  const { keyId } = call.actor
  if (keyId !== undefined) {
    const mine = yield* call.db.table(logins).list({ operatorId: shift.operatorId, shiftId: null })
    const login = mine.find(({ apiKeyId }) => apiKeyId === keyId)
    if (login !== undefined) yield* call.db.table(logins).update(login.id, { shiftId: shift.id })
  }
  return yield* shownShift(call, shift)
})

/** Empty sales are voided with their shift; others have to be ended before. Returns how many were empty. */
const endEmpty = Effect.fnUntraced(function*({ db }: PluginCall, shiftId: string) {
  // Written before they are looked at: nothing comes to a sale that is voided.
  const found = yield* db.table(transactions).list({ shiftId, status: "open" }, { order: ["id"] })
  const ended = yield* Effect.forEach(
    found,
    ({ id }) => db.use(sale).move("void", id, { voidReason: "The shift was closed." })
  )
  if (ended.length === 0) return 0
  const of = { transactionId: { in: ended.map(({ id }) => id) } }
  const busy = new Set([
    ...(yield* db.table(lines).list({ ...of, removedAt: null })).map(({ transactionId }) => transactionId),
    ...(yield* db.table(payments).list({ ...of, status: { in: ["pending", "collected"] } }))
      .map(({ transactionId }) => transactionId)
  ])
  const full = ended.filter(({ id }) => busy.has(id))
  if (full.length > 0) {
    return yield* new SalesOpen(full.map(({ receiptNumber }) => receiptNumber).slice(0, 20).join(", "))
  }
  return ended.length
})

const close = Effect.fn("Shifts.close")(function*(call: PluginCall, id: string, closingCount: number) {
  const { actor, db } = call
  const closed = yield* db.transaction(Effect.gen(function*() {
    const shift = yield* ownShift(actor, yield* db.use(shiftMachine).lock("close", id))
    const { voidsCount } = shift
    const terminal = yield* findTerminal(db, shift.terminalId)
    const { all } = yield* PosExtensions
    yield* Effect.forEach(all(), ({ shiftClosing }) => shiftClosing?.(shift, terminal) ?? Effect.void)
    const ended = yield* endEmpty(call, id)
    const { cash } = yield* db.use(figuresOf)("shift_id", id)
    const { expected: expectedCash } = cash
    const counts = { closingCount, expectedCash, cashVariance: closingCount - expectedCash }
    // `pos/end-logins` ends them if this process dies before it has.
    yield* db.table(logins).updateMany({ shiftId: id }, { expiresAt: yield* DateTime.nowAsDate })
    return yield* db.use(shiftMachine).move("close", id, { ...counts, voidsCount: voidsCount + ended })
  }))
  yield* endLogins(call, { shiftId: id })
  return yield* shownShift(call, closed)
})

const report = Effect.fn("Shifts.report")(function*(call: PluginCall, id: string) {
  const { db } = call
  const shift = yield* db.table(shifts).get(id)
  const [events, { cash, firstReceipt: _, lastReceipt: __, ...figures }, blind] = yield* Effect.all([
    db.table(cashEvents).list({ shiftId: id }, { order: ["performedAt", "id"] }),
    db.use(figuresOf)("shift_id", id),
    isBlind(call)
  ])
  return {
    shift: yield* shownShift(call, shift),
    cashEvents: events,
    paymentMethodTotals: figures.methods.filter(({ type }) => type === "sale").map(Struct.omit(["type"])),
    transactionCount: figures.salesCount + figures.refundsCount,
    ...figures,
    cash: {
      ...cash,
      expected: blind ? null : cash.expected,
      counted: shift.closingCount,
      variance: blind ? null : shift.cashVariance
    }
  }
})

const own = Effect.fnUntraced(function*({ actor, db }: Pick<PluginCall, "actor" | "db">, id: string) {
  return yield* ownShift(actor, yield* db.table(shifts).get(id))
})

const ofShift = visibleRows(
  ["shiftId"],
  ({ db, params }) =>
    Effect.flatMap(
      CurrentActor,
      (actor) => Effect.map(own({ actor, db }, params["id"] ?? ""), ({ id }) => ({ shiftId: id }))
    )
)

export const shiftRoutes = [
  routes.post("/shifts/open", {
    summary: "Open a shift",
    description: "404 without the terminal; 409 when it has an open shift; 422 when it is not active.",
    permission: operate,
    input: Schema.Struct({
      id: Schema.optional(
        uuid.schema.annotate({ description: "The id that it will have, which a checklist of its opening refers to." })
      ),
      terminalId: uuid.schema,
      openingFloat: SentAmount
    }),
    strict: true,
    success: ShiftView
  }).handle((call) => open(call, call.input)),
  routes.post("/shifts/:id/close", {
    summary: "Close a shift with what the drawer holds",
    description: "Ends the logins of the shift. 404; 403 for another operator's; 409 with open sales; 422 when closed.",
    permission: operate,
    input: Schema.Struct({ closingCount: SentAmount }),
    strict: true,
    success: ShiftView
  }).handle((call) => close(call, call.params.id, call.input.closingCount)),
  routes.get("/shifts/current", {
    summary: "Get one's open shift",
    description: "The last one that was opened; null without one.",
    permission: operate,
    success: Schema.NullOr(ShiftView)
  }).handle((call) =>
    Effect.gen(function*() {
      const operatorId = authorOf(call.actor)
      const shift = yield* call.db.table(shifts).first({ operatorId, status: "open" }, ["-createdAt"])
      return shift === undefined ? null : yield* shownShift(call, shift)
    })
  ),
  listOf(routes, "/shifts", shifts, {
    summary: "List shifts",
    permission: manage,
    filters: ["terminalId", "operatorId", "status"]
  }),
  routes.get("/shifts/:id", {
    summary: "Get a shift",
    description: "404 without it; 403 for another operator's, without pos:manage.",
    permission: operate,
    success: ShiftView
  }).handle((call) => Effect.flatMap(own(call, call.params.id), (shift) => shownShift(call, shift))),
  routes.get("/shifts/:id/report", {
    summary: "Get the report of a shift (X)",
    description: "Counts completed transactions. 404 without the shift.",
    permission: admin,
    success: Report
  }).handle((call) => report(call, call.params.id)),
  routes.post("/shifts/:id/cash-events", {
    summary: "Record cash that goes in or out",
    description: "404; 403 for another operator's shift; 409 when it is closed.",
    permission: operate,
    input: CashEvent,
    strict: true,
    success: CashEventView
  }).handle((call) => noteCash(call, call.params.id, call.input)),
  listOf(routes, "/shifts/:id/cash-events", cashEvents, {
    summary: "List cash events of a shift",
    permission: operate,
    order: ["performedAt", "id"],
    visible: ofShift
  }),
  routes.post("/shifts/:id/no-sale", {
    summary: "Open the drawer without a sale",
    description: "It is counted. 404; 403 for another operator's shift or without an override; 409 when it is closed.",
    permission: operate,
    headers: overrideHeader,
    input: Schema.Struct({ reason: Text }),
    strict: true,
    success: CashEventView,
    errors: [OverrideRequired, OverrideInvalid]
  }).handle((call) =>
    Effect.gen(function*() {
      const token = call.headers["x-pos-override"]
      const allowed = yield* approvalFor(call, { action: "no-sale", permission: manage, token })
      return yield* call.db.transaction(
        Effect.andThen(allowed.spend, noteCash(call, call.params.id, { type: "no_sale", amount: 0, ...call.input }))
      )
    })
  )
]
