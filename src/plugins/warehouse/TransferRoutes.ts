import { Effect, Schema } from "effect"
import { about, fieldsOf, inputOf, type PluginDatabase, resource } from "stoa/plugin"
import { admin, authorOf, goodsIn, inOrder, kept, linesOf, namedLines, operate, read, routes } from "./Documents.ts"
import { warehouseNames } from "./StockRepo.ts"
import {
  Arrival,
  discrepancies,
  dispatch,
  receive,
  transfer,
  transferDocuments,
  transferItems,
  transferLots,
  transfers
} from "./Transfers.ts"

const Head = inputOf(transfers, {
  required: ["fromWarehouseId", "toWarehouseId"],
  optional: ["type", "notes", "metadata"]
})
const Line = inputOf(transferItems, {
  required: ["entityId", "itemName", "quantityRequested"],
  optional: ["variantId", "batchNumber"]
})
const Missing = Schema.Struct({ itemId: Schema.String, missing: Schema.Int.pipe(about("Units that did not come.")) })

/** A transfer as it travels with its goods: what was sent, of which batches, and what arrived. */
const paperOf = Effect.fnUntraced(function*(db: PluginDatabase, id: string) {
  const { head, lines } = yield* db.use(transferDocuments).get(id)
  const lots = Map.groupBy(yield* db.table(transferLots).list({ transferId: id }, inOrder), ({ itemId }) => itemId)
  const names = yield* db.use(warehouseNames)([head.fromWarehouseId, head.toWarehouseId])
  const arrived = head.status === "received"
  return {
    title: "Stock transfer",
    number: head.transferNumber,
    date: head.createdAt,
    facts: [{ label: "Status", value: head.status.replaceAll("_", " ") }],
    parties: [
      { label: "From", lines: [names.get(head.fromWarehouseId) ?? ""] },
      { label: "To", lines: [names.get(head.toWarehouseId) ?? ""] }
    ],
    columns: ["Item", "Requested", "Dispatched", "Received"],
    rows: lines.map(({ batchNumber, id, itemName, quantityDispatched, quantityReceived, quantityRequested }) => ({
      title: itemName,
      details: lots.get(id)?.map((lot) => `${lot.quantity} of ${lot.batchNumber}, ${lot.expiryDate ?? "no expiry"}`) ??
        [batchNumber ?? ""],
      cells: [quantityRequested, quantityDispatched, arrived ? quantityReceived : ""].map(String)
    })),
    notes: head.notes === null ? [] : [head.notes]
  }
})

export const transferRoutes = [
  ...resource(routes, "/transfers", transfers, {
    ...kept,
    noun: "transfer",
    filters: ["status", "type", "fromWarehouseId", "toWarehouseId"],
    search: ["transferNumber"],
    machine: transfer,
    moves: { approve: admin, dispatch: false, receive: false },
    create: {
      description: "422 for unknown warehouses and goods, and for two warehouses that are the same.",
      input: Schema.Struct({ ...Head.fields, items: linesOf(Line) }),
      answer: ({ actor, db, input: { items, ...head } }) =>
        Effect.gen(function*() {
          yield* goodsIn(db, head.fromWarehouseId, items)
          return (yield* db.use(transferDocuments).create({ ...head, requestedBy: authorOf(actor) }, items)).head
        })
    },
    get: {
      summary: "Get a transfer with its items, their lots and what is missing",
      success: Schema.Struct({
        transfer: transfers.Row,
        items: Schema.Array(transferItems.Row),
        lots: Schema.Array(transferLots.Row).pipe(about("Lots that the units were taken from.")),
        discrepancies: Schema.Array(discrepancies.Row).pipe(about("Items of which units are missing."))
      }),
      answer: ({ db, params: { id } }) =>
        Effect.gen(function*() {
          const { head, lines } = yield* db.use(transferDocuments).get(id)
          const lots = yield* db.table(transferLots).list({ transferId: id }, inOrder)
          const missing = yield* db.table(discrepancies).list({ transferId: id }, inOrder)
          return { transfer: head, items: lines, lots, discrepancies: missing }
        })
    }
  }),
  routes.raw(
    "GET",
    "/transfers/:id/pdf",
    { summary: "Print a transfer", description: "404 without it.", permission: read, produces: "application/pdf" },
    (call) => Effect.flatMap(paperOf(call.db, call.params.id), call.services.printing.pdf)
  ),
  routes.post("/transfers/:id/dispatch", {
    summary: "Dispatch a transfer",
    description: "404 without it; 422 when it is not approved, or the warehouse or a named batch has too little.",
    permission: operate,
    success: transfers.Row
  }).handle((call) => dispatch(call, call.params.id)),
  routes.post("/transfers/:id/receive", {
    summary: "Receive a transfer",
    description: "An item that is not named is missing. 422 unless in transit, and for more than was dispatched.",
    permission: operate,
    input: Schema.Struct({ items: namedLines(Arrival) }),
    success: Schema.Struct({
      ...fieldsOf(transfers),
      discrepancies: Schema.Array(Missing).pipe(about("Items of which units are missing."))
    })
  }).handle((call) => receive(call, call.params.id, call.input.items))
]
