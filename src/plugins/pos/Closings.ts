import { DateTime, Effect, Schema } from "effect"
import {
  about,
  amount,
  conflict,
  date,
  fieldsOf,
  integer,
  json,
  newId,
  oneOf,
  type PluginCall,
  resource,
  type RowOf,
  table,
  text,
  uuid
} from "stoa/plugin"
import { type Figures, figuresOf } from "./FiguresRepo.ts"
import { record } from "./Fiscal.ts"
import { chained, fiscalRecords, noHash } from "./FiscalRecords.ts"
import { transactions } from "./Sales.ts"
import { shifts } from "./Shifts.ts"
import { authorOf, dayOf, findTerminal, manage, routes, terminals } from "./Terminals.ts"

/** The closing of a till (Z): all closed shifts since the last one, numbered without gaps and in a chain of hashes. */
export const closings = table("pos_closings", {
  terminalId: uuid.references(terminals),
  number: integer.about("Number of the closing at the terminal."),
  businessDate: date.about("Business day of the terminal."),
  kind: oneOf(["z"]).default("z").about("Z: the end of a business day."),
  firstReceipt: text.nullable.about("Number of its first receipt."),
  lastReceipt: text.nullable.about("Number of its last receipt."),
  totals: json.about("Sums of the day, as they were closed."),
  grandTotal: amount.about("All sales of the till so far."),
  previousHash: text.about("Hash of the closing before."),
  hash: text.about("SHA-256 over the closing and the hash before."),
  createdBy: text.about("Operator who closed.")
}, { unique: [{ columns: ["terminalId", "number"] }] })
type Closing = RowOf<typeof closings>

class ShiftOpen extends conflict("PosClosingOpen", "The terminal has an open shift. Close it first.") {}
class NothingToClose extends conflict("PosNothingToClose", "No shift was closed since the last closing.") {}

const contentOf = (
  { businessDate, createdBy, firstReceipt, grandTotal, kind, lastReceipt, number, terminalId, totals }: Omit<
    Closing,
    "id" | "organizationId" | "createdAt" | "updatedAt" | "hash" | "previousHash"
  >
) => ({ terminalId, number, businessDate, kind, firstReceipt, lastReceipt, totals, grandTotal, createdBy })

/** Makes the Z of a till. 404; 409 with an open shift, and without anything to close. */
export const makeClosing = Effect.fn("Closings.make")(function*({ actor, db }: PluginCall, terminalId: string) {
  const terminal = yield* db.table(terminals).lock((yield* findTerminal(db, terminalId)).id)
  if ((yield* db.table(shifts).count({ terminalId, status: "open" })) > 0) return yield* new ShiftOpen()
  const id = newId()
  const counted = yield* db.table(shifts).updateMany({ terminalId, closingId: null, status: "closed" }, {
    closingId: id
  })
  const of = { terminalId, closingId: null, status: { in: ["completed" as const, "voided" as const] } }
  const done = yield* db.table(transactions).updateMany(of, { closingId: id })
  if (counted.length === 0 && done.length === 0) return yield* new NothingToClose()
  const { value: number } = yield* db.nextNumber({ kind: "closing", scope: terminalId, period: "" })
  const before = yield* db.table(closings).first({ terminalId, number: number - 1 })
  const { firstReceipt, lastReceipt, ...totals }: Figures = yield* db.use(figuresOf)("closing_id", id)
  const today = yield* dayOf(terminal, yield* DateTime.nowAsDate)
  const content = contentOf({
    terminalId,
    number,
    businessDate: done.map(({ businessDate }) => businessDate).toSorted().at(-1) ?? today,
    kind: "z",
    firstReceipt,
    lastReceipt,
    totals,
    grandTotal: (before?.grandTotal ?? 0) + totals.salesTotal,
    createdBy: authorOf(actor)
  })
  const previousHash = before?.hash ?? noHash
  const closing = yield* db.table(closings).insert({
    ...content,
    id,
    previousHash,
    hash: chained(previousHash, content)
  })
  yield* record(db, { terminalId, closingId: id, payload: { type: "closing", number, hash: closing.hash } })
  yield* db.announce("pos.closing", { entityType: "pos_closing", entityId: id, payload: closing })
  return closing
}, (work, { db }) => db.transaction(work))

const Verified = Schema.Struct({
  valid: Schema.Boolean.pipe(about("The stored hash is the one that the content gives.")),
  hash: Schema.String.annotate({ description: "As it is stored." }),
  expectedHash: Schema.String.annotate({ description: "As the content and the closing before it give it." }),
  previousFits: Schema.Boolean.pipe(about("The closing before has the hash that this one names.")),
  recordsFit: Schema.Boolean.annotate({
    description: "The fiscal records of the till up to it form an unbroken chain."
  })
})

const pageSize = 500

/** Whether the chain of records of a till is unbroken, up to the one of this closing. Reads it in pages. */
const recordsFit = Effect.fnUntraced(function*({ db }: PluginCall, { hash: ofClosing, id, terminalId }: Closing) {
  const own = yield* db.table(fiscalRecords).first({ terminalId, closingId: id }, ["-number"])
  if (own?.payload["hash"] !== ofClosing) return false
  let [previousHash, after] = [noHash, 0]
  while (after < own.number) {
    const page = yield* db.table(fiscalRecords).list(
      { terminalId, number: { gt: after, lte: own.number } },
      { order: ["number"], limit: pageSize }
    )
    if (page.length === 0) return false
    for (const one of page) {
      const { hash, number, payload } = one
      const fits = number === after + 1 && one.previousHash === previousHash &&
        hash === chained(previousHash, { number, payload })
      if (!fits) return false
      ;[previousHash, after] = [hash, number]
    }
  }
  return true
})

const verify = Effect.fn("Closings.verify")(function*(call: PluginCall, id: string) {
  const { db } = call
  const closing = yield* db.table(closings).get(id)
  const { hash, number, previousHash, terminalId } = closing
  const before = yield* db.table(closings).first({ terminalId, number: number - 1 })
  const expectedHash = chained(previousHash, contentOf(closing))
  const previousFits = previousHash === (number === 1 ? noHash : before?.hash)
  const fits = yield* recordsFit(call, closing)
  return { valid: hash === expectedHash && previousFits && fits, hash, expectedHash, previousFits, recordsFit: fits }
})

export const closingRoutes = [
  ...resource(routes, "/closings", closings, {
    noun: "closing",
    read: manage,
    filters: ["terminalId", "businessDate"],
    create: {
      allowed: manage,
      summary: "Close a terminal (Z)",
      description: "Counts all closed shifts since the last closing. 404; 409 with an open shift, or nothing to close.",
      input: Schema.Struct({ terminalId: fieldsOf(closings).terminalId }),
      answer: (call) => makeClosing(call, call.input.terminalId)
    }
  }),
  routes.get("/closings/:id/verify", {
    summary: "Verify a closing and the chain before it",
    description: "404 without it.",
    permission: manage,
    success: Verified
  }).handle((call) => verify(call, call.params.id))
]
