import { Effect, Schema, Struct } from "effect"
import { inputOf, invalid, moveOf, resource, type RowOf } from "stoa/plugin"
import { Lots } from "../warehouse/index.ts"
import { personOf } from "./Approvals.ts"
import { admin, create, itemIssues, read, routes, type Tools } from "./Documents.ts"
import { goodsReceipt, goodsReceipts, receiptItems, receipts } from "./GoodsReceipt.ts"
import type { ProcurementSettings } from "./ProcurementOptions.ts"
import { type OrderItem, orderItems, orders, type PurchaseOrder, purchaseOrder, statusOf } from "./PurchaseOrder.ts"
import { itemsOf } from "./PurchaseOrders.ts"
import { arrive } from "./PurchasingRepo.ts"

class OtherPlace
  extends invalid("OtherPlace", (name: string) => name, (name) => `${name} must be that of the order.`)
{}

const fields = inputOf(receiptItems).fields
/** What the order says may be repeated, and has to be the same. */
const repeated = ["entityId", "variantId", "quantityOrdered"] as const

const ReceivedItem = Schema.Struct({
  ...Struct.pick(fields, [
    "poItemId",
    "quantityReceived",
    "quantityRejected",
    "rejectionReason",
    "batchNumber",
    "expiryDate"
  ]),
  entityId: Schema.optional(fields.entityId),
  variantId: fields.variantId,
  quantityOrdered: Schema.optional(fields.quantityOrdered),
  quantityAccepted: Schema.optional(fields.quantityAccepted).annotate({
    description: "Default: what is not rejected."
  }),
  unitCost: Schema.optional(fields.unitCost).annotate({ description: "Default: that of the order." })
})
type ReceivedItem = typeof ReceivedItem.Type

const NewReceipt = Schema.Struct({
  ...Struct.pick(inputOf(receipts).fields, ["poId", "notes", "metadata"]),
  supplierId: Schema.optional(inputOf(receipts).fields.supplierId),
  warehouseId: Schema.optional(inputOf(receipts).fields.warehouseId),
  items: Schema.Array(ReceivedItem).check(Schema.isBetweenLength(1, 1_000))
})

type Fault = readonly [name: string, rule: string]

/** A line with what the order says of it, and what is wrong with it. */
const lineOf = (item: OrderItem, given: ReceivedItem) => {
  const { quantityReceived, quantityRejected = 0, unitCost = item.unitCost } = given
  const { quantityAccepted = quantityReceived - quantityRejected } = given
  const faults: Array<Fault> = repeated.flatMap((name) =>
    given[name] === undefined || given[name] === item[name]
      ? []
      : [[name, "must be that of the line of the order."] as const]
  )
  if (quantityAccepted + quantityRejected !== quantityReceived || quantityAccepted < 0) {
    faults.push(["quantityReceived", "must be the sum of what is accepted and rejected."])
  }
  for (const [name, quantity] of Object.entries({ quantityReceived, quantityAccepted })) {
    if ((quantity * item.stockQuantity) % item.quantityOrdered !== 0) {
      faults.push([name, "must be a whole number of stock units."])
    }
  }
  const inStock = (quantity: number) => (quantity * item.stockQuantity) / item.quantityOrdered
  const line = {
    ...given,
    ...Struct.pick(item, ["entityId", "variantId", "quantityOrdered"]),
    quantityAccepted,
    unitCost,
    stockReceived: inStock(quantityReceived),
    stockAccepted: inStock(quantityAccepted)
  }
  return { line, faults }
}

/** The lines as they are kept; 422 that names each line that cannot be received. */
const linesOf = (
  items: ReadonlyArray<OrderItem>,
  given: ReadonlyArray<ReceivedItem>,
  { overReceiptPercent }: ProcurementSettings
) => {
  const byId = new Map(items.map((item) => [item.id, item]))
  const received = new Map<string, number>()
  const issues = itemIssues()
  const lines = given.flatMap((one, n) => {
    const item = byId.get(one.poItemId)
    if (item === undefined) return issues.refuse(n, "poItemId", "must be a line of the order.")
    const { faults, line } = lineOf(item, one)
    const sum = (received.get(item.id) ?? 0) + one.quantityReceived
    received.set(item.id, sum)
    const most = Math.floor((item.quantityOrdered * (100 + overReceiptPercent)) / 100) - item.quantityReceived
    if (sum > most) faults.push(["quantityReceived", `must be at most ${most}, which can still be received.`])
    for (const [name, rule] of faults) issues.refuse(n, name, rule)
    return [line]
  })
  return issues.orElse({ lines, received })
}

/** Adds to what was received, or takes away from it, and moves the order, which is locked. */
const count = Effect.fnUntraced(
  function*({ db }: Tools, order: PurchaseOrder, items: ReadonlyArray<OrderItem>, change: ReadonlyMap<string, number>) {
    const after = items.map(({ id, quantityOrdered, quantityReceived }) => ({
      id,
      quantityOrdered,
      quantityReceived: quantityReceived + (change.get(id) ?? 0)
    }))
    const changed = after.filter(({ id }) => (change.get(id) ?? 0) !== 0)
    // A receipt of nothing leaves the order as it is: it may have been cancelled meanwhile.
    if (changed.length === 0) return
    yield* db.table(orderItems).updateEach(changed.map((one) => Struct.pick(one, ["id", "quantityReceived"])))
    yield* db.table(orders).update(order.id, { status: statusOf(order, after) })
  }
)

/** Writes down what came of an order that is approved or sent; stock moves when it is accepted. */
const receive = Effect.fn("GoodsReceipts.receive")(
  function*(tools: Tools, settings: ProcurementSettings, { items: given, ...head }: typeof NewReceipt.Type) {
    const { actor, db } = tools
    const order = yield* db.use(purchaseOrder).lock("receive", head.poId)
    for (const name of ["supplierId", "warehouseId"] as const) {
      if ((head[name] ?? order[name]) !== order[name]) return yield* new OtherPlace(name)
    }
    const items = yield* itemsOf(tools, order.id)
    const { lines, received } = yield* linesOf(items, given, settings)
    const { supplierId, warehouseId } = order
    const receivedBy = personOf(actor)
    const made = yield* db.use(goodsReceipts).create({ ...head, supplierId, warehouseId, receivedBy }, lines)
    yield* count(tools, order, items, received)
    return made.head
  }
)

/**
 * Posts what was accepted: stock with its cost, no longer incoming, and its lots. At most six statements for any number of
 * lines. Of several at once one posts.
 */
const accept = Effect.fn("GoodsReceipts.accept")(function*(
  { db, services }: Tools,
  { costTolerancePercent }: ProcurementSettings,
  id: string
) {
  const arrivals = yield* db.use(arrive)(id, costTolerancePercent)
  const isAsOrdered = arrivals.every(({ costDiffers, rejected }) => rejected === 0 && !costDiffers)
  const receipt = yield* db.use(goodsReceipt).move(isAsOrdered ? "accept" : "acceptWithDiscrepancy", id)
  const moving = arrivals.filter(({ accepted, arrived }) => accepted > 0 || arrived > 0)
  const lines = moving.map(({ accepted, arrived, entityId, unitCost, variantId, warehouseId }) => ({
    entityId,
    variantId,
    warehouseId,
    delta: accepted,
    incoming: -arrived,
    ...(accepted > 0 ? { unitCost, average: true } : {})
  }))
  const batches = arrivals.flatMap(({ accepted: quantity, batchNumber, ...one }) =>
    batchNumber === null ? [] : [{ ...one, batchNumber, quantity }]
  )
  if (batches.length > 0) yield* Lots.use((lots) => lots.receive(batches))
  if (lines.length > 0) yield* services.inventory.post({ type: "grn", id }, lines)
  return receipt
})

/** Refuses all of a receipt, as if it had not come: the order waits for it again. */
const rejected = Effect.fn("GoodsReceipts.reject")(function*(tools: Tools, { id, poId }: RowOf<typeof receipts>) {
  const order = yield* tools.db.table(orders).lock(poId)
  const { lines } = yield* tools.db.use(goodsReceipts).get(id)
  const back = new Map<string, number>()
  for (const { poItemId, quantityReceived } of lines) back.set(poItemId, (back.get(poItemId) ?? 0) - quantityReceived)
  yield* count(tools, order, yield* itemsOf(tools, order.id), back)
})

const missing = "404 without it; 422 INVALID_TRANSITION when it is decided."

/** What came of orders (contract, plugins §5). */
export const goodsReceiptRoutes = (settings: ProcurementSettings) => [
  ...resource(routes, "/grn", receipts, {
    noun: "goods receipt",
    read,
    write: create,
    filters: ["status", "poId", "supplierId", "warehouseId"],
    search: ["grnNumber", "notes"],
    machine: goodsReceipt,
    moves: { accept: false, acceptWithDiscrepancy: false, reject: false },
    create: {
      summary: "Receive goods of an order",
      description:
        "Quantities are in the unit of the order's line. Stock moves when it is accepted. 404 without the order; 422 " +
        "INVALID_TRANSITION when nothing can be received of it, 422 for more than was ordered and a part of a stock unit.",
      input: NewReceipt,
      answer: (call) => call.db.transaction(receive(call, settings, call.input))
    },
    get: goodsReceipts.whole("grn", "items"),
    patch: false,
    remove: false
  }),
  moveOf(routes, "/grn", goodsReceipt, "accept", {
    summary: "Accept a goods receipt",
    description:
      `What was accepted is in stock with its cost, once. A rejected unit, or a cost further from the order's than \`costTolerancePercent\`, makes it \`accepted_with_discrepancy\`. ${missing}`,
    allowed: admin,
    answer: (call) => accept(call, settings, call.params.id)
  }),
  moveOf(routes, "/grn", goodsReceipt, "reject", {
    summary: "Reject a goods receipt",
    description: `Nothing of it counts as received. ${missing}`,
    allowed: admin,
    after: (receipt, call) => rejected(call, receipt)
  })
]
