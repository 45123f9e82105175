import { Effect, Schema } from "effect"
import {
  about,
  childOf,
  date,
  decimal,
  document,
  idOf,
  invalid,
  json,
  longText,
  machine,
  numbers,
  oneOf,
  table,
  text,
  timestamp,
  uuid,
  WarehouseId
} from "stoa/plugin"
import { givenFor, goodsAt, goodsColumns, inOrder, someUnits, type Tools, units } from "./Documents.ts"
import { Lots } from "./Lots.ts"

/** Goods that go from one warehouse to another. */
export const transfers = table("stock_transfers", {
  transferNumber: text.unique().about("Number on the papers."),
  type: oneOf(["requisition", "direct", "return"]).default("requisition").about("Why goods move."),
  status: oneOf(["draft", "pending_approval", "approved", "in_transit", "received", "cancelled"]).default("draft")
    .about(
      "Step of the transfer. Goods leave stock with in_transit and come in with received."
    ),
  fromWarehouseId: idOf(WarehouseId).existing("warehouse"),
  toWarehouseId: idOf(WarehouseId).existing("warehouse"),
  requestedBy: text.about("User who asked for it."),
  approvedBy: text.nullable.about("User who approved it."),
  dispatchedAt: timestamp.nullable,
  receivedAt: timestamp.nullable,
  notes: longText.nullable,
  metadata: json.default({}).forPeople
}, {
  checks: { two_warehouses: "from_warehouse_id <> to_warehouse_id" }
})

export const transferItems = childOf(transfers, "transferId", "stock_transfer_items", {
  transferId: uuid.references(transfers),
  ...goodsColumns,
  quantityRequested: someUnits.about("Units that were asked for."),
  quantityDispatched: units.default(0).about("Units that left."),
  quantityReceived: units.default(0).about("Units that came."),
  batchNumber: text.nullable.about("Batch of the goods."),
  unitCost: decimal(28, 10).nullable.about("Cost of one unit in minor units of the store's currency.")
}, { checks: { no_surplus: "quantity_received <= quantity_dispatched and quantity_dispatched <= quantity_requested" } })

/** The lots that an item took: they come in with it. */
export const transferLots = childOf(transfers, "transferId", "stock_transfer_lots", {
  transferId: uuid.references(transfers),
  itemId: uuid.references(transferItems),
  batchNumber: text.about("Batch of the goods."),
  expiryDate: date.nullable.about("Last day on which the goods are good."),
  quantity: someUnits
})

/** Units that were dispatched and did not arrive. */
export const discrepancies = childOf(transfers, "transferId", "stock_transfer_discrepancies", {
  transferId: uuid.references(transfers),
  itemId: uuid.references(transferItems),
  missing: someUnits.about("Units that did not come.")
})

export const transferDocuments = document({
  head: transfers,
  lines: transferItems,
  number: { transferNumber: numbers({ kind: "TRF" }) }
})

export const transfer = machine(transfers, {
  noun: "transfer",
  moves: {
    submit: { from: ["draft"], to: "pending_approval" },
    approve: { from: ["draft", "pending_approval"], to: "approved", by: "approvedBy" },
    dispatch: { from: ["approved"], to: "in_transit", stamp: "dispatchedAt" },
    receive: { from: ["in_transit"], to: "received", stamp: "receivedAt" },
    cancel: { from: ["draft", "pending_approval", "approved"], to: "cancelled" }
  }
})

class MoreThanDispatched extends invalid(
  "MoreThanDispatched",
  "items",
  (item: string, dispatched: number) => `items name more of "${item}" than the ${dispatched} that were dispatched.`
) {}

/**
 * Takes all units and their lots out of one warehouse and shows them in transit to the other (contract §6). 404; 422 in
 * another state, and when the warehouse or a named batch has too little.
 */
export const dispatch = Effect.fn("Transfers.dispatch")(function*({ db, services }: Tools, id: string) {
  const head = yield* db.use(transfer).move("dispatch", id)
  const lines = yield* db.table(transferItems).list({ transferId: id }, inOrder)
  const posted = yield* (yield* Lots).post(services.inventory, { type: "warehouse.dispatch", id }, [
    ...lines.map((line) => {
      const { batchNumber, quantityRequested } = line
      const moved = { delta: -quantityRequested, type: "transfer" as const, reason: batchNumber, batchNumber }
      return { ...goodsAt(head.fromWarehouseId, line), ...moved }
    }),
    ...lines.map((line) => ({ ...goodsAt(head.toWarehouseId, line), inTransit: line.quantityRequested }))
  ])
  yield* db.table(transferLots).insertMany(
    lines.flatMap((line, n) => (posted[n]?.lots ?? []).map((lot) => ({ transferId: id, itemId: line.id, ...lot })))
  )
  yield* db.table(transferItems).updateEach(lines.map((line, n) => ({
    id: line.id,
    quantityDispatched: line.quantityRequested,
    unitCost: posted[n]?.unitCost ?? null
  })))
  return head
}, (work, { db }) => db.transaction(work))

/** Units that arrived of an item. */
export const Arrival = Schema.Struct({
  itemId: uuid.schema,
  quantityReceived: units.schema.pipe(about("Units that came."))
})
type Arrivals = ReadonlyArray<typeof Arrival.Type>

/** The items with what arrived of them; an item that is not named has not arrived. 422. */
const arrivedItems = Effect.fnUntraced(function*({ db }: Tools, transferId: string, given: Arrivals) {
  const items = yield* db.table(transferItems).list({ transferId }, inOrder)
  const arrived = new Map<string, number>()
  for (const { given: { quantityReceived }, item } of yield* givenFor(items, given)) {
    const { id, itemName, quantityDispatched } = item
    if (quantityReceived > quantityDispatched) return yield* new MoreThanDispatched(itemName, quantityDispatched)
    arrived.set(id, quantityReceived)
  }
  return items.map((item) => ({ ...item, quantityReceived: arrived.get(item.id) ?? 0 }))
})

/**
 * Puts what arrived into the other warehouse, with its lots and at the cost at which it left, and records what is missing
 * (contract §17.17). Of an item that is missing in part those units arrived that expire first. 404, 422.
 */
export const receive = Effect.fn("Transfers.receive")(
  function*(tools: Tools, id: string, given: Arrivals) {
    const { db, services } = tools
    const head = yield* db.use(transfer).move("receive", id)
    const items = yield* arrivedItems(tools, id, given)
    const open = new Map(items.map((item) => [item.id, { item, left: item.quantityReceived }]))
    const sent = yield* db.table(transferLots).list({ transferId: id }, inOrder)
    const arrived = sent.flatMap((lot) => {
      const entry = open.get(lot.itemId)
      if (entry === undefined) return []
      const quantity = Math.min(lot.quantity, entry.left)
      entry.left -= quantity
      return [{ ...lot, ...goodsAt(head.toWarehouseId, entry.item), quantity }]
    })
    yield* Lots.use(({ receive }) => receive(arrived))
    yield* services.inventory.post(
      { type: "warehouse.receipt", id },
      items.map((item) => {
        const { quantityDispatched, quantityReceived: delta, unitCost } = item
        const cost = delta === 0 || unitCost === null ? {} : { unitCost, average: true }
        const moved = { delta, inTransit: -quantityDispatched, type: "transfer" as const }
        return { ...goodsAt(head.toWarehouseId, item), ...moved, ...cost }
      })
    )
    yield* db.table(transferItems).updateEach(items.map(({ id, quantityReceived }) => ({ id, quantityReceived })))
    const missing = items.flatMap(({ id: itemId, quantityDispatched, quantityReceived }) => {
      const missing = quantityDispatched - quantityReceived
      return missing === 0 ? [] : [{ itemId, missing }]
    })
    yield* db.table(discrepancies).insertMany(missing.map((one) => ({ ...one, transferId: id })))
    return { ...head, discrepancies: missing }
  },
  (work, { db }) => db.transaction(work)
)
