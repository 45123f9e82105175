import { DateTime, Effect } from "effect"
import { conflict, type EventCall, holds, invalid, notFound, type PluginCall } from "stoa/plugin"
import { Pos } from "../pos/index.ts"
import { requireCompleted } from "./Checklists.ts"
import { manage } from "./RestaurantOptions.ts"
import { assignments, floor, tables } from "./Tables.ts"

class TableNotFound extends notFound("DiningTable", "Table not found.") {}
class OtherZone extends conflict("OtherZone", "Guests can only move to another table of the same zone.") {}

class TooManyGuests extends invalid(
  "TooManyGuests",
  "guests",
  (capacity: number) => `guests must be at most ${capacity}, the capacity of the table; pos:manage may seat more.`
) {}

const requireSeats = (
  { actor }: PluginCall,
  { capacity }: { readonly capacity: number },
  guests: number | null | undefined
) => (guests ?? 0) <= capacity || holds(actor, manage) ? Effect.void : new TooManyGuests(capacity)

/** Prices the open sales of a bill again. Completing them does so too, so a sale that cannot be priced now holds up no guests. */
const repriceBill = Effect.fnUntraced(function*(transactionId: string, isSeated = false) {
  const { openParts, reprice } = yield* Pos
  const open = (yield* openParts([transactionId])).filter(({ status }) => status === "open")
  const change = isSeated ? { orderType: "dine_in" as const } : {}
  yield* Effect.forEach(open, ({ id }) => Effect.ignore(reprice(id, change)), { discard: true })
})

/** Gives a table to an open sale, or changes the guests of the sale that has it. 404; 422 for another's, and an ended sale. */
export const assign = Effect.fn("Floor.assign")(function*(
  call: PluginCall,
  tableId: string,
  { guests, transactionId }: { readonly transactionId: string; readonly guests?: number | null | undefined }
) {
  const { db } = call
  const { lockOpen, sale } = yield* Pos
  const seated = yield* db.transaction(Effect.gen(function*() {
    const found = db.table(tables).lock(tableId)
    const table = yield* Effect.catchTag(found, "NotFound/Row", () => new TableNotFound())
    yield* requireSeats(call, table, guests)
    const current = yield* db.table(assignments).first({ tableId, leftAt: null })
    if (current?.transactionId === transactionId) return yield* db.table(assignments).update(current.id, { guests })
    // Locked until the guests sit: its end then finds them, and frees the table.
    yield* lockOpen(transactionId)
    yield* db.use(floor).move("assign", tableId)
    const seatedAt = yield* DateTime.nowAsDate
    return yield* db.table(assignments).insert({ tableId, transactionId, guests, seatedAt })
  }))
  const { transaction } = yield* sale(transactionId)
  const isSeated = transaction.orderType === "counter"
  if (guests !== undefined || isSeated) yield* repriceBill(transactionId, isSeated)
  return seated
})

/** Asks for the bill, once all checklists before it are complete. */
export const requestBill = Effect.fnUntraced(function*({ db }: PluginCall, tableId: string) {
  const billRequestedAt = yield* DateTime.nowAsDate
  const seated = yield* db.table(assignments).updateMany({ tableId, leftAt: null }, { billRequestedAt })
  yield* Effect.forEach(seated, ({ transactionId }) => requireCompleted(db, "pre_billing", transactionId))
})

/** The guests leave. 404; `leave` is 422 for a table without guests. */
export const empty = Effect.fn("Floor.empty")(function*({ db }: PluginCall, tableId: string, move: "leave" | "clear") {
  const leftAt = yield* DateTime.nowAsDate
  const [table, left] = yield* db.transaction(Effect.all([
    db.use(floor).move(move, tableId),
    db.table(assignments).updateMany({ tableId, leftAt: null }, { leftAt })
  ]))
  const counted = left.filter(({ guests }) => guests !== null)
  yield* Effect.forEach(counted, ({ transactionId }) => repriceBill(transactionId))
  return table
})

/** Guests change tables and keep the time since when they sit. 404; 409 for another zone; 422 unless the other one is available. */
export const transfer = Effect.fn("Floor.transfer")(
  function*(call: PluginCall, from: string, to: string) {
    const { db } = call
    const both = yield* db.table(tables).list({ id: { in: [from, to] } }, { order: ["id"], lock: true })
    const zones = new Set(both.map(({ zone }) => zone))
    if (from === to || zones.size > 1) return yield* new OtherZone()
    if (both.length < 2) return yield* new TableNotFound()
    const left = yield* db.use(floor).move("vacate", from)
    const taken = yield* db.use(floor).move("assign", to)
    const seated = yield* db.table(assignments).updateMany({ tableId: from, leftAt: null }, {
      leftAt: yield* DateTime.nowAsDate
    })
    yield* Effect.forEach(seated, ({ guests }) => requireSeats(call, taken, guests))
    yield* db.table(assignments).insertMany(
      seated.map(({ guests, seatedAt, transactionId }) => ({ tableId: to, transactionId, guests, seatedAt }))
    )
    return { from: left, to: taken }
  },
  (work, { db }) => db.transaction(work)
)

/** A sale has ended: tables whose bill has no open part any more are to be cleaned. */
export const freeTables = Effect.fn("Floor.free")(function*({ db, event }: EventCall) {
  const { openParts, sources } = yield* Pos
  const transactionId = { in: (yield* sources([event.entityId])).map(({ id }) => id) }
  const seated = yield* db.table(assignments).list({ transactionId, leftAt: null })
  if (seated.length === 0) return
  yield* db.transaction(Effect.gen(function*() {
    const ids = seated.map(({ tableId }) => tableId)
    yield* db.table(tables).list({ id: { in: ids } }, { order: ["id"], lock: true })
    const open = new Set((yield* openParts(seated.map((one) => one.transactionId))).map((part) => part.of))
    const over = seated.filter((one) => !open.has(one.transactionId)).map(({ id }) => id)
    const left = yield* db.table(assignments).updateMany({ id: { in: over }, leftAt: null }, {
      leftAt: yield* DateTime.nowAsDate
    })
    yield* db.table(tables).updateMany({ id: { in: left.map(({ tableId }) => tableId) } }, { status: "cleaning" })
  }))
})
