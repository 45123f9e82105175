import { Effect, Schema, Struct } from "effect"
import {
  about,
  amount,
  boolean,
  childOf,
  conflict,
  date,
  document,
  EntityId,
  idOf,
  inputOf,
  integerBetween,
  longText,
  machine,
  moveOf,
  numbers,
  oneOf,
  resource,
  type RowOf,
  table,
  text,
  timestamp,
  uuid,
  VariantId,
  WarehouseId
} from "stoa/plugin"
import { Rational } from "../uom/index.ts"
import { Lots } from "../warehouse/index.ts"
import { personOf, refuseOwn } from "./Approvals.ts"
import { admin, create, decided, inOrder, itemIssues, read, routes, type Tools } from "./Documents.ts"
import { receiptItems, receipts } from "./GoodsReceipt.ts"
import type { ProcurementSettings } from "./ProcurementOptions.ts"
import { orders } from "./PurchaseOrder.ts"
import { matchBill } from "./PurchasingRepo.ts"
import { maxQuantity, suppliers } from "./Supplier.ts"

/** Accepted goods that go back to their supplier, and the credit for them in the order's currency. */
export const supplierReturns = table("supplier_returns", {
  returnNumber: text.unique().about("Number on the papers."),
  grnId: uuid.references(receipts, "restrict"),
  poId: uuid.references(orders, "restrict"),
  supplierId: uuid.references(suppliers, "restrict"),
  warehouseId: idOf(WarehouseId),
  status: oneOf(["draft", "approved", "shipped", "discrepancy", "credited", "cancelled"]).default("draft").about(
    "Step of the return. discrepancy: the credit note has another amount than the goods."
  ),
  requestedBy: text.about("User who made it."),
  approvedBy: text.nullable.about("User who approved it."),
  shippedAt: timestamp.nullable,
  expectsCredit: boolean.default(true).about("False: the supplier does not bill the goods."),
  expectedCredit: amount.about("Amount that should be credited."),
  creditNumber: text.nullable.about("Number of the credit note."),
  creditAmount: amount.nullable.about("Amount of the credit note."),
  creditedOn: date.nullable.forPeople.about("Day of the credit note."),
  enteredBy: text.nullable.about("User who entered the credit note."),
  decidedBy: text.nullable.about("User who accepted another amount."),
  decidedAt: timestamp.nullable,
  notes: longText.nullable
}, { unique: [{ columns: ["supplierId", "creditNumber"] }] })

/** `quantity` is in the unit of the receipt's line. */
export const supplierReturnItems = childOf(supplierReturns, "returnId", "supplier_return_items", {
  returnId: uuid.references(supplierReturns),
  grnItemId: uuid.references(receiptItems, "restrict"),
  entityId: idOf(EntityId),
  variantId: idOf(VariantId).nullable,
  quantity: integerBetween(1, 2 * maxQuantity),
  stockQuantity: integerBetween(1, 2_147_483_647).about("Units in the stock unit."),
  reason: text,
  batchNumber: text.nullable.about("Batch of the goods.")
}, { indexes: [{ columns: ["grnItemId"] }] })

type Return = RowOf<typeof supplierReturns>

const documents = document({
  head: supplierReturns,
  lines: supplierReturnItems,
  number: { returnNumber: numbers({ kind: "RTS" }) }
})

const sent = ["shipped", "discrepancy"] as const

export const supplierReturn = machine(supplierReturns, {
  noun: "supplier return",
  moves: {
    approve: { from: ["draft"], to: "approved", by: "approvedBy", emits: "supplier_return.approved" },
    ship: { from: ["approved"], to: "shipped", stamp: "shippedAt", emits: "supplier_return.shipped" },
    credit: { from: sent, to: "credited", emits: "supplier_return.credited" },
    dispute: { from: sent, to: "discrepancy" },
    acceptCredit: { from: ["discrepancy"], to: "credited", ...decided, emits: "supplier_return.credited" },
    cancel: { from: ["draft", "approved"], to: "cancelled", emits: "supplier_return.cancelled" }
  }
})

class NotAccepted
  extends conflict("NotAccepted", "The goods receipt is not accepted: only accepted goods can be returned.")
{}
class BilledAlready extends conflict(
  "BilledAlready",
  "The supplier has billed these goods already: expectsCredit must be true."
) {}

const NewReturn = Schema.Struct({
  ...Struct.pick(inputOf(supplierReturns).fields, ["grnId", "notes"]),
  expectsCredit: Schema.optional(Schema.Boolean).annotate({
    description: "Default true. False: the supplier does not bill these goods, so that bills may not name them either."
  }),
  items: Schema.Array(
    inputOf(supplierReturnItems, { required: ["grnItemId", "quantity", "reason"], optional: ["batchNumber"] })
  ).check(Schema.isBetweenLength(1, 1_000))
})
type NewReturn = typeof NewReturn.Type
const CreditNote = Schema.Struct({
  creditNumber: text.schema,
  creditAmount: amount.schema,
  creditedOn: date.schema.pipe(about("Day of the credit note."))
})

/** The lines of a receipt, locked: each return sees what earlier ones have taken. */
const lockedLines = ({ db }: Tools, grnId: string) => db.table(receiptItems).list({ grnId }, { ...inOrder, lock: true })
type ReceiptLine = Effect.Success<ReturnType<typeof lockedLines>>[number]

/** Lines with the receipt's lines; 422 that names each one that cannot be returned. */
const linesOf = (received: ReadonlyArray<ReceiptLine>, given: NewReturn["items"]) => {
  const open = new Map(received.map((line) => [line.id, line]))
  const issues = itemIssues()
  const lines = given.flatMap((item, n) => {
    const refuse = (name: keyof typeof item, rule: string) => issues.refuse(n, name, `must be ${rule}`)
    const line = open.get(item.grnItemId)
    if (line === undefined) return refuse("grnItemId", "a line of the goods receipt that is named once.")
    open.delete(line.id)
    const { batchNumber, entityId, quantityAccepted, quantityReceived, quantityReturned, stockReceived, variantId } =
      line
    const most = quantityAccepted - quantityReturned
    if (item.quantity > most) return refuse("quantity", `at most ${most}, which were accepted and not returned.`)
    const stockQuantity = (item.quantity * stockReceived) / quantityReceived
    if (!Number.isInteger(stockQuantity)) return refuse("quantity", "a whole number of stock units.")
    return [{ line, item: { batchNumber, ...item, entityId, variantId, stockQuantity } }]
  })
  return issues.orElse(lines)
}

/** Drafts a return of a receipt's goods, whose credit is their cost in the receipt and the order's tax on it. */
const draft = Effect.fn("SupplierReturns.draft")(function*(tools: Tools, { items, ...head }: NewReturn) {
  const { actor, db } = tools
  const { poId, status, supplierId, warehouseId } = yield* db.table(receipts).get(head.grnId)
  if (status !== "accepted" && status !== "accepted_with_discrepancy") return yield* new NotAccepted()
  const lines = yield* linesOf(yield* lockedLines(tools, head.grnId), items)
  const { grandTotal, subtotal } = yield* db.table(orders).lock(poId)
  const { expectsCredit = true } = head
  const cost = lines.reduce((sum, { item, line }) => sum + item.quantity * line.unitCost, 0)
  const withTax = subtotal === 0 ? cost : Rational.of(cost).times(grandTotal).per(subtotal).round()
  const made = yield* db.use(documents).create({
    ...head,
    poId,
    supplierId,
    warehouseId,
    requestedBy: personOf(actor),
    expectsCredit,
    expectedCredit: expectsCredit ? withTax : 0
  }, lines.map(({ item }) => item))
  yield* db.table(receiptItems).updateEach(
    lines.map(({ item, line }) => ({ id: line.id, quantityReturned: line.quantityReturned + item.quantity }))
  )
  if (!expectsCredit) {
    const billed = yield* db.use(matchBill)(poId, lines.map(({ line: { poItemId } }) => ({ poItemId, quantity: 0 })), 0)
    if (billed.some(({ discrepancy }) => discrepancy !== null)) return yield* new BilledAlready()
  }
  return made.head
})

/** Takes the goods and their lots out of the receipt's warehouse. */
const shipped = Effect.fn("SupplierReturns.ship")(function*({ db, services }: Tools, { id, warehouseId }: Return) {
  const lines = yield* db.table(supplierReturnItems).list({ returnId: id }, inOrder)
  const leaving = lines.map(({ batchNumber, entityId, reason, stockQuantity, variantId }) => (
    { entityId, variantId, warehouseId, delta: -stockQuantity, reason, batchNumber }
  ))
  yield* Lots.use((lots) => lots.post(services.inventory, { type: "supplier_return", id }, leaving))
})

/** Gives the goods of a cancelled return back to its receipt: another one can return them. */
const cancelled = Effect.fn("SupplierReturns.cancel")(function*(tools: Tools, { grnId, id: returnId }: Return) {
  const { db } = tools
  const lines = yield* db.table(supplierReturnItems).list({ returnId }, inOrder)
  const back = new Map(lines.map(({ grnItemId, quantity }) => [grnItemId, quantity]))
  const received = yield* lockedLines(tools, grnId)
  yield* db.table(receiptItems).updateEach(received.flatMap(({ id, quantityReturned }) => {
    const quantity = back.get(id)
    return quantity === undefined ? [] : [{ id, quantityReturned: quantityReturned - quantity }]
  }))
})

/** Enters the supplier's credit note, or another one in its place while it is not approved. */
const credit = Effect.fn("SupplierReturns.credit")(
  function*({ actor, db }: Tools, tolerance: number, id: string, note: typeof CreditNote.Type) {
    const { expectedCredit } = yield* db.use(supplierReturn).lock("credit", id)
    const difference = Rational.of(Math.abs(note.creditAmount - expectedCredit)).times(100)
    const differs = difference.minus(Rational.of(expectedCredit).times(tolerance)).isPositive
    return yield* db.use(supplierReturn).move(differs ? "dispute" : "credit", id, {
      ...note,
      enteredBy: personOf(actor)
    })
  }
)

const missing = "404 without it; 422 INVALID_TRANSITION in another state"

const moveRoutes = ({ costTolerancePercent, fourEyes }: ProcurementSettings) => [
  moveOf(routes, "/returns", supplierReturn, "approve", {
    summary: "Approve a return to a supplier",
    description: `403 for the person who drafted it. ${missing}.`,
    allowed: admin,
    after: ({ requestedBy }, { actor }) => refuseOwn(fourEyes, actor, [requestedBy])
  }),
  moveOf(routes, "/returns", supplierReturn, "ship", {
    summary: "Ship a return to its supplier",
    description: `Its units leave stock and their lots. ${missing}, or when the warehouse or a batch has too little.`,
    allowed: create,
    after: (row, call) => shipped(call, row)
  }),
  moveOf(routes, "/returns", supplierReturn, "cancel", {
    summary: "Cancel a return that was not shipped",
    description: `${missing}.`,
    allowed: admin,
    after: (row, call) => cancelled(call, row)
  }),
  moveOf(routes, "/returns", supplierReturn, "credit", {
    summary: "Record the supplier's credit note of a return",
    description:
      "Further from `expectedCredit` than `costTolerancePercent` it is a `discrepancy`, in which another note may replace " +
      `it. ${missing}; 409 for a number that the supplier has used.`,
    allowed: create,
    input: CreditNote,
    answer: (call) => credit(call, costTolerancePercent, call.params.id, call.input)
  }),
  moveOf(routes, "/returns", supplierReturn, "acceptCredit", {
    summary: "Approve a credit note with a discrepancy",
    description: `403 for the person who entered it. ${missing}.`,
    allowed: admin,
    after: ({ enteredBy }, { actor }) => refuseOwn(fourEyes, actor, [enteredBy])
  })
]

/** Returns of accepted goods to their suppliers. */
export const supplierReturnRoutes = (settings: ProcurementSettings) => [
  ...resource(routes, "/returns", supplierReturns, {
    noun: "return to a supplier",
    read,
    write: create,
    filters: ["status", "grnId", "poId", "supplierId", "warehouseId"],
    search: ["returnNumber", "creditNumber", "notes"],
    create: {
      summary: "Create a draft of a return to a supplier",
      description:
        "Lines are in the unit of the receipt's line; `batchNumber` is the receipt's by default, null takes what expires " +
        "first. 404 without the receipt; 409 when it is not accepted, or goods without credit are billed; 422 for more " +
        "than was accepted and not returned.",
      input: NewReturn,
      answer: (call) => call.db.transaction(draft(call, call.input))
    },
    get: documents.whole("return", "items"),
    patch: false,
    remove: false
  }),
  ...moveRoutes(settings)
]
