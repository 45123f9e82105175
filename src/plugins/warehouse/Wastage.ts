import { Effect, Schema } from "effect"
import {
  amount,
  childOf,
  document,
  idOf,
  inputOf,
  integerBetween,
  longText,
  machine,
  numbers,
  oneOf,
  resource,
  table,
  text,
  uuid,
  WarehouseId
} from "stoa/plugin"
import {
  admin,
  authorOf,
  costOf,
  goodsAt,
  goodsColumns,
  goodsIn,
  inOrder,
  kept,
  linesOf,
  routes,
  someUnits,
  type Tools
} from "./Documents.ts"
import { Lots } from "./Lots.ts"

/** Goods that are lost. */
export const wastageNotes = table("wastage_notes", {
  noteNumber: text.unique().about("Number on the papers."),
  warehouseId: idOf(WarehouseId).existing("warehouse"),
  type: oneOf(["spoilage", "damage", "expiry", "theft", "prep_waste", "other"]).about("Why goods were lost."),
  status: oneOf(["draft", "approved", "cancelled"]).default("draft").about("Approval takes the units out of stock."),
  recordedBy: text.about("User who recorded it."),
  approvedBy: text.nullable.about("User who approved it."),
  totalCost: amount.about("Cost of the lost goods."),
  notes: longText.nullable
})

export const wastageItems = childOf(wastageNotes, "noteId", "wastage_note_items", {
  noteId: uuid.references(wastageNotes),
  ...goodsColumns,
  quantity: someUnits,
  unitCost: integerBetween(0, 1_000_000_000).money().about("Cost of one unit."),
  totalCost: amount.about("Cost of the lost goods."),
  reason: text.nullable,
  batchNumber: text.nullable.about("Batch of the goods.")
})

const wastageDocuments = document({
  head: wastageNotes,
  lines: wastageItems,
  number: { noteNumber: numbers({ kind: "WST" }) }
})

export const wastage = machine(wastageNotes, {
  noun: "wastage note",
  moves: {
    approve: { from: ["draft"], to: "approved", by: "approvedBy" },
    cancel: { from: ["draft"], to: "cancelled" }
  }
})

/**
 * Takes the units and their lots out of stock (contract §6), and says at which cost they left; where stock has none, what the
 * note says. 404, 422; 422 when the warehouse or a named batch has too little.
 */
export const approveWastage = Effect.fn("Wastage.approve")(function*({ db, services }: Tools, id: string) {
  const { type, warehouseId } = yield* db.use(wastage).move("approve", id)
  const lines = yield* db.table(wastageItems).list({ noteId: id }, inOrder)
  const posted = yield* (yield* Lots).post(
    services.inventory,
    { type: "warehouse.wastage", id },
    lines.map((line) => ({
      ...goodsAt(warehouseId, line),
      delta: -line.quantity,
      reason: line.reason ?? type,
      batchNumber: line.batchNumber
    }))
  )
  const left = lines.map(({ id, quantity, unitCost }, n) => ({
    id,
    units: quantity,
    unitCost: posted[n]?.unitCost ?? unitCost
  }))
  yield* db.table(wastageItems).updateEach(
    yield* Effect.forEach(left, ({ id, unitCost, units }) =>
      Effect.all({
        id: Effect.succeed(id),
        unitCost: costOf([{ units: 1, unitCost }]),
        totalCost: costOf([{ units, unitCost }])
      }))
  )
  return yield* db.table(wastageNotes).update(id, { totalCost: yield* costOf(left) })
}, (work, { db }) => db.transaction(work))

const Head = inputOf(wastageNotes, { required: ["warehouseId", "type"], optional: ["notes"] })
const Line = inputOf(wastageItems, {
  required: ["entityId", "itemName", "quantity", "unitCost"],
  optional: ["variantId", "reason", "batchNumber"]
})

export const wastageRoutes = [
  ...resource(routes, "/wastage", wastageNotes, {
    ...kept,
    noun: "wastage note",
    filters: ["status", "type", "warehouseId"],
    search: ["noteNumber"],
    machine: wastage,
    moves: { approve: false },
    create: {
      description: "422 for an unknown warehouse and unknown goods.",
      input: Schema.Struct({ ...Head.fields, items: linesOf(Line) }),
      answer: ({ actor, db, input: { items, ...head } }) =>
        Effect.gen(function*() {
          yield* goodsIn(db, head.warehouseId, items)
          const totalCost = yield* costOf(items.map(({ quantity, unitCost }) => ({ units: quantity, unitCost })))
          const lines = items.map((item) => ({ ...item, totalCost: item.quantity * item.unitCost }))
          return (yield* db.use(wastageDocuments).create({ ...head, totalCost, recordedBy: authorOf(actor) }, lines))
            .head
        })
    },
    get: { summary: "Get a wastage note with its items", ...wastageDocuments.whole("note", "items") }
  }),
  routes.post("/wastage/:id/approve", {
    summary: "Approve a wastage note",
    description:
      "Its units leave stock. 404 without it; 422 when it is no draft, or the warehouse or a named batch has too little.",
    permission: admin,
    success: wastageNotes.Row
  }).handle((call) => approveWastage(call, call.params.id))
]
