import { DateTime, Effect, Schema } from "effect"
import {
  type Actor,
  amount,
  ApiKeyId,
  childOf,
  Conflict,
  conflict,
  forbidden,
  holds,
  idOf,
  integer,
  json,
  longText,
  machine,
  MinorUnits,
  newId,
  oneOf,
  type PluginCall,
  type PluginDatabase,
  type RowOf,
  table,
  text,
  timestamp,
  uuid
} from "stoa/plugin"
import { activeTerminal, authorOf, manage, terminals } from "./Terminals.ts"

/** A cashier's work at a till, from the float to the count. Its counters do not change after it is closed. */
export const shifts = table("pos_shifts", {
  terminalId: uuid.references(terminals),
  operatorId: text.about("Operator whose drawer it is."),
  status: oneOf(["open", "closed"]).default("open").about(
    "Only an open shift takes sales; a terminal has at most one."
  ),
  openingFloat: amount.about("Cash in the drawer at the start."),
  closingCount: amount.nullable.about("Cash that was counted at the end."),
  expectedCash: amount.nullable.about("Cash that should be there."),
  cashVariance: amount.nullable.about("Counted cash without the expected."),
  salesCount: integer.default(0).about("Number of sales."),
  salesTotal: amount.default(0).about("Sum of the sales."),
  refundsCount: integer.default(0).about("Number of returns."),
  refundsTotal: amount.default(0).about("Sum of the returns."),
  voidsCount: integer.default(0).about("Number of voided transactions."),
  voidsTotal: amount.default(0).about("Sum of the voided transactions."),
  noSaleCount: integer.default(0).about("How often the drawer was opened without a sale."),
  lateCount: integer.default(0).about("Sales that a device sent after the shift was closed."),
  lateTotal: amount.default(0).about("Sum of the transactions that arrived after the end."),
  closedAt: timestamp.nullable,
  closedBy: text.nullable.about("Operator who closed it."),
  closingId: uuid.nullable.about("Id of the closing that contains it."),
  metadata: json.default({})
}, {
  unique: [{ columns: ["terminalId"], where: "status = 'open'" }],
  indexes: [{ columns: ["terminalId"], where: "closing_id is null" }],
  checks: { counted: "opening_float >= 0 and coalesce(closing_count, 0) >= 0" }
})
export type Shift = RowOf<typeof shifts>

/** Cash that goes into a drawer or out of it without a sale; `no_sale` opens it for nothing. */
export const cashEvents = childOf(shifts, "shiftId", "pos_cash_events", {
  shiftId: uuid.references(shifts),
  type: oneOf(["float", "drop", "pickup", "paid_in", "paid_out", "no_sale"]).about(
    "float and paid_in put cash in, drop, pickup and paid_out take it out; no_sale opens the drawer only."
  ),
  amount,
  reason: longText.nullable,
  performedBy: text.about("Operator who did it."),
  performedAt: timestamp
}, { checks: { worth: "amount > 0 or (type = 'no_sale' and amount = 0)" } })

/** Keys that logins by PIN gave, which end with their shift. */
export const logins = table("pos_logins", {
  operatorId: text.about("Operator whose drawer it is."),
  shiftId: uuid.references(shifts).nullable,
  /** The device that it was made on. */
  deviceKeyId: idOf(ApiKeyId).nullable,
  apiKeyId: idOf(ApiKeyId).unique(),
  expiresAt: timestamp.until
}, { changeLog: false, counted: false, indexes: [{ columns: ["shiftId"] }, { columns: ["expiresAt"] }] })

export const shiftMachine = machine(shifts, {
  noun: "shift",
  moves: { close: { from: ["open"], to: "closed", stamp: "closedAt", by: "closedBy", emits: "pos.shift_closed" } }
})

class ShiftOpen extends conflict("PosShiftOpen", "The terminal has an open shift. Close it first.") {}
class ShiftClosed extends conflict("PosShiftClosed", "The shift is closed.") {}
class NotYourShift
  extends forbidden("NotYourShift", "The shift is of another operator. Permission 'pos:manage' is required.")
{}

/** 403 for the shift of another operator, without pos:manage. */
export const ownShift = (actor: Actor, shift: Shift) =>
  shift.operatorId === authorOf(actor) || holds(actor, manage) ? Effect.succeed(shift) : new NotYourShift()

/** 409 for a closed shift. */
export const stillOpen = (shift: Shift) => shift.status === "open" ? Effect.succeed(shift) : new ShiftClosed()

/** The locked shift, which is open: 404, 403 for another operator's, 409 for a closed one. */
export const lockOpen = Effect.fnUntraced(function*({ actor, db }: PluginCall, id: string) {
  return yield* stillOpen(yield* ownShift(actor, yield* db.table(shifts).lock(id)))
})

/** The open shift of the path: as `lockOpen`, without the lock. */
export const openShift = Effect.fnUntraced(function*({ actor, db }: PluginCall, id: string) {
  return yield* stillOpen(yield* ownShift(actor, yield* db.table(shifts).get(id)))
})

/** `openingFloat` in minor units. */
export interface NewShift {
  readonly id?: string | undefined
  readonly terminalId: string
  readonly openingFloat: number
}

/** Opens a shift with the float as its first entry. 404; 409 with an open one at the till; 422 for an inactive till. */
export const startShift = Effect.fn("Shifts.open")(
  function*({ actor, db }: PluginCall, { id = newId(), openingFloat, terminalId }: NewShift) {
    yield* activeTerminal(db, terminalId)
    const row = { id, terminalId, operatorId: authorOf(actor), openingFloat }
    const shift = yield* Effect.catchIf(db.table(shifts).insert(row), isConflict, () => new ShiftOpen())
    if (openingFloat > 0) {
      yield* db.table(cashEvents).insert({
        shiftId: shift.id,
        type: "float",
        amount: openingFloat,
        performedBy: shift.operatorId,
        performedAt: shift.createdAt
      })
    }
    return shift
  },
  (work, { db }) => db.transaction(work)
)

const isConflict = Schema.is(Conflict)

export const CashEvent = Schema.Struct({
  type: Schema.Literals(["drop", "pickup", "paid_in", "paid_out"]).annotate({
    description: "pickup: change fetched into the drawer. drop: cash brought to the safe."
  }),
  amount: MinorUnits.check(Schema.isBetween({ minimum: 1, maximum: 1_000_000_000_000 })),
  reason: Schema.optional(longText.schema)
})

/** Notes cash that went in or out. 404, 403, 409. */
export const noteCash = Effect.fn("Shifts.noteCash")(
  function*(
    call: PluginCall,
    shiftId: string,
    event: Pick<RowOf<typeof cashEvents>, "type" | "amount"> & { readonly reason?: string | undefined }
  ) {
    const { id, noSaleCount } = yield* lockOpen(call, shiftId)
    if (event.type === "no_sale") yield* call.db.table(shifts).update(id, { noSaleCount: noSaleCount + 1 })
    return yield* call.db.table(cashEvents).insert({
      ...event,
      shiftId,
      performedBy: authorOf(call.actor),
      performedAt: yield* DateTime.nowAsDate
    })
  },
  (work, { db }) => db.transaction(work)
)

type Counted = "sales" | "refunds" | "voids" | "late"

const added = (shift: Shift, kind: Counted, total: number) => {
  if (kind === "sales") return { salesCount: shift.salesCount + 1, salesTotal: shift.salesTotal + total }
  if (kind === "refunds") return { refundsCount: shift.refundsCount + 1, refundsTotal: shift.refundsTotal + total }
  return kind === "voids"
    ? { voidsCount: shift.voidsCount + 1, voidsTotal: shift.voidsTotal + total }
    : { lateCount: shift.lateCount + 1, lateTotal: shift.lateTotal + total }
}

/** Adds to the counters of a locked shift. */
export const count = (db: PluginDatabase, shift: Shift, kind: Counted, total: number) =>
  db.table(shifts).update(shift.id, added(shift, kind, total))
