import { DateTime, Effect, Record, Schema, Struct } from "effect"
import {
  about,
  amount,
  boolean,
  childOf,
  conflict,
  document,
  fieldsOf,
  idOf,
  inputOf,
  integer,
  invalid,
  longText,
  machine,
  numbers,
  oneOf,
  type PluginDatabase,
  resource,
  type RowOf,
  table,
  text,
  timestamp,
  uuid,
  WarehouseId
} from "stoa/plugin"
import {
  admin,
  authorOf,
  costOf,
  givenFor,
  goodsAt,
  goodsColumns,
  goodsIn,
  inOrder,
  kept,
  linesOf,
  namedLines,
  operate,
  routes,
  type Tools,
  units
} from "./Documents.ts"
import { goodsToCount, type StockLine, stockOf } from "./StockRepo.ts"

/** A count of what is in a warehouse. */
export const reconciliations = table("stock_reconciliations", {
  reconciliationNumber: text.unique().about("Number on the papers."),
  warehouseId: idOf(WarehouseId).existing("warehouse"),
  status: oneOf(["draft", "counting", "submitted", "approved", "adjusted", "cancelled"]).default("draft").about(
    "Step of the count. adjusted: stock is as it was counted."
  ),
  countedBy: text.about("User who counts."),
  approvedBy: text.nullable.about("User who approved it."),
  countedAt: timestamp.nullable,
  isCycle: boolean.default(false).about("True: only some goods are counted."),
  isBlind: boolean.default(false).about("True: the counter does not see the expected units.")
})

export const reconciliationItems = childOf(reconciliations, "reconciliationId", "reconciliation_items", {
  reconciliationId: uuid.references(reconciliations),
  ...goodsColumns,
  systemQuantity: integer.about("Units on hand at the count; hidden from counters of a blind count."),
  physicalQuantity: units.about("Units that were counted."),
  variance: integer.about("Counted units minus those on hand."),
  varianceCost: amount.default(0),
  adjustmentMade: boolean.default(false).about("Stock was changed by the variance."),
  notes: longText.nullable,
  countedAt: timestamp.nullable,
  adjustments: integer.default(0).about("Earlier counts that adjusted these goods, when it was counted.")
}, {
  indexes: [{ columns: ["entityId"], where: "adjustment_made" }],
  unique: [
    { columns: ["reconciliationId", "entityId"], where: "variant_id is null" },
    { columns: ["reconciliationId", "entityId", "variantId"], where: "variant_id is not null" }
  ],
  checks: { difference: "variance = physical_quantity - system_quantity" }
})

const reconciliationDocuments = document({
  head: reconciliations,
  lines: reconciliationItems,
  number: { reconciliationNumber: numbers({ kind: "REC" }) }
})

export const reconciliation = machine(reconciliations, {
  noun: "reconciliation",
  moves: {
    count: { from: ["draft", "counting", "submitted"], to: "counting", stamp: "countedAt" },
    submit: { from: ["draft", "counting"], to: "submitted" },
    approve: { from: ["submitted"], to: "approved", by: "approvedBy" },
    cancel: { from: ["draft", "counting", "submitted"], to: "cancelled" }
  }
})

class StockMoved extends conflict(
  "StockMoved",
  (item: RowOf<typeof reconciliationItems>) =>
    `The stock of "${item.itemName}" has moved since it was counted: count it again.`
) {}

/** Compares what was counted with what stock says now. 422 for unknown goods. */
const counted = Effect.fnUntraced(function*<Line extends StockLine & { readonly physicalQuantity: number }>(
  db: PluginDatabase,
  warehouseId: WarehouseId,
  lines: ReadonlyArray<Line>
) {
  const found = yield* goodsIn(db, warehouseId, lines)
  const countedAt = DateTime.toDateUtc(yield* DateTime.now)
  return yield* Effect.forEach(lines, (line, n) => {
    const { adjustments, onHand, unitCost } = found[n] ?? { adjustments: 0, onHand: 0, unitCost: "0" }
    const variance = line.physicalQuantity - onHand
    return Effect.map(costOf([{ units: variance, unitCost }]), (cost) => ({
      ...line,
      systemQuantity: onHand,
      variance,
      varianceCost: variance < 0 ? -cost : cost,
      countedAt,
      adjustments
    }))
  })
})

/** What was counted of items. */
const Counts = namedLines(Schema.Struct({
  itemId: uuid.schema,
  ...inputOf(reconciliationItems, { required: ["physicalQuantity"], optional: ["notes"] }).fields
}))

/** Counts items again, which compares them with stock of now (contract §6). 404, 422. */
const count = Effect.fn("Reconciliations.count")(
  function*({ db }: Tools, id: string, countedBy: string, given: typeof Counts.Type) {
    const head = yield* db.use(reconciliation).move("count", id, { countedBy })
    const items = yield* db.table(reconciliationItems).list({ reconciliationId: id }, inOrder)
    const named = yield* givenFor(items, given)
    const lines = named.map(({ given: { notes, physicalQuantity }, item }) => ({ ...item, physicalQuantity, notes }))
    const compared = yield* counted(db, head.warehouseId, lines)
    yield* db.table(reconciliationItems).updateEach(
      compared.map(({ createdAt: _, ...item }) =>
        Struct.pick(item, [
          "id",
          "notes",
          "physicalQuantity",
          "systemQuantity",
          "variance",
          "varianceCost",
          "countedAt",
          "adjustments"
        ])
      )
    )
    return head
  },
  (work, { db }) => db.transaction(work)
)

/**
 * Makes stock what was counted. The lots of units that are missing are those that expire first. `adjusted`, or `approved`
 * when nothing differs. 404; 409 when stock has moved since the count; 422.
 */
export const approve = Effect.fn("Reconciliations.approve")(function*({ db, services }: Tools, id: string) {
  const head = yield* db.use(reconciliation).move("approve", id)
  const { warehouseId } = head
  const all = yield* db.table(reconciliationItems).list({ reconciliationId: id }, inOrder)
  const items = head.isCycle ? all.filter(({ countedAt }) => countedAt !== null) : all
  const different = items.filter(({ variance }) => variance !== 0)
  if (different.length > 0) {
    // What is not there is not there, also when it is reserved.
    const how = { type: "adjustment" as const, allowNegative: true }
    yield* services.inventory.post(
      { type: "warehouse.reconciliation", id },
      different.map((item) => ({ ...goodsAt(warehouseId, item), delta: item.variance, ...how }))
    )
  }
  // Posted goods are locked: what is not as it was counted has moved before, and everything is taken back.
  const now = yield* db.use(stockOf)(warehouseId, items)
  // A cycle count ignores movements since, but not another count of the same goods: it would post the difference twice.
  const moved = items.find(({ adjustments, physicalQuantity }, n) =>
    head.isCycle ? now[n]?.adjustments !== adjustments : now[n]?.onHand !== physicalQuantity
  )
  if (moved !== undefined) return yield* new StockMoved(moved)
  if (different.length === 0) return head
  yield* db.table(reconciliationItems).updateMany(
    { reconciliationId: id, variance: { not: 0 } },
    { adjustmentMade: true }
  )
  return yield* db.table(reconciliations).update(id, { status: "adjusted" })
}, (work, { db }) => db.transaction(work))

class NothingDue extends invalid(
  "NothingDue",
  "notCountedForDays",
  "notCountedForDays leaves nothing to count: choose items or fewer days."
) {}

const Opening = Schema.Struct({
  ...inputOf(reconciliations, { required: ["warehouseId"], optional: ["isBlind"] }).fields,
  items: Schema.optional(linesOf(inputOf(reconciliationItems, { required: ["entityId"], optional: ["variantId"] }))),
  notCountedForDays: Schema.optional(Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 3650 }))).pipe(
    about("Without `items`: goods that no count has adjusted for so many days.")
  ),
  limit: Schema.optional(Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 1000 }))).pipe(
    about("Most goods to count, those worth most first. Default: 100.")
  )
})

/** Opens a cycle count of the named goods, else of goods that were not counted for so long, the most worth first. 422. */
const openCycle = Effect.fn("Reconciliations.open")(
  function*(db: PluginDatabase, countedBy: string, { isBlind, warehouseId, ...given }: typeof Opening.Type) {
    const { items, limit = 100, notCountedForDays = 0 } = given
    if (items !== undefined) yield* goodsIn(db, warehouseId, items)
    const due = yield* db.use(goodsToCount)(warehouseId, items, notCountedForDays, limit)
    if (due.length === 0) return yield* new NothingDue()
    const lines = due.map((line) => ({ ...line, systemQuantity: 0, physicalQuantity: 0, variance: 0 }))
    const head = { warehouseId, countedBy, isBlind, isCycle: true }
    return (yield* db.use(reconciliationDocuments).create(head, lines)).head
  }
)

const shown = ["systemQuantity", "physicalQuantity", "variance", "varianceCost"] as const
const ItemView = Schema.Struct({
  ...fieldsOf(reconciliationItems),
  ...Record.map(Struct.pick(fieldsOf(reconciliationItems), shown), Schema.NullOr)
})

/** Nothing of what was not counted, and no stock to those who count blindly. */
const viewOf = (
  { isBlind, isCycle, status }: RowOf<typeof reconciliations>,
  item: RowOf<typeof reconciliationItems>
): typeof ItemView.Type => {
  const { countedAt, physicalQuantity } = item
  const hidden = { systemQuantity: null, variance: null, varianceCost: null }
  if (isCycle && countedAt === null) return { ...item, ...hidden, physicalQuantity: null }
  return isBlind && (status === "draft" || status === "counting") ? { ...item, ...hidden, physicalQuantity } : item
}

const Head = inputOf(reconciliations, { required: ["warehouseId"] })
const Line = inputOf(reconciliationItems, {
  required: ["entityId", "itemName", "physicalQuantity"],
  optional: ["variantId", "notes"]
})

export const reconciliationRoutes = [
  ...resource(routes, "/reconciliations", reconciliations, {
    ...kept,
    noun: "reconciliation",
    filters: ["status", "warehouseId"],
    search: ["reconciliationNumber"],
    machine: reconciliation,
    moves: { approve: false, count: false },
    create: {
      description:
        "Compares with what stock says now. 422 for an unknown warehouse and unknown goods; 409 for goods named twice.",
      input: Schema.Struct({ ...Head.fields, items: linesOf(Line) }),
      answer: ({ actor, db, input: { items, warehouseId } }) =>
        Effect.gen(function*() {
          const head = { warehouseId, countedBy: authorOf(actor), countedAt: DateTime.toDateUtc(yield* DateTime.now) }
          return (yield* db.use(reconciliationDocuments).create(head, yield* counted(db, warehouseId, items))).head
        })
    },
    get: {
      summary: "Get a reconciliation with its items",
      success: Schema.Struct({ reconciliation: reconciliations.Row, items: Schema.Array(ItemView) }),
      answer: ({ db, params }) =>
        Effect.map(
          db.use(reconciliationDocuments).get(params.id),
          ({ head, lines }) => ({ reconciliation: head, items: lines.map((line) => viewOf(head, line)) })
        )
    }
  }),
  routes.post("/reconciliations/open", {
    summary: "Open a cycle count",
    description: "Of the named goods, else of those worth most. 422 for unknown ones, and when nothing is due.",
    permission: operate,
    input: Opening,
    success: reconciliations.Row
  }).handle(({ actor, db, input }) => openCycle(db, authorOf(actor), input)),
  routes.post("/reconciliations/:id/count", {
    summary: "Count items of a reconciliation",
    description: "Compares them with what stock says now. 404 without it; 422 for others' items and when approved.",
    permission: operate,
    input: Schema.Struct({ items: Counts }),
    success: reconciliations.Row
  }).handle((call) => count(call, call.params.id, authorOf(call.actor), call.input.items)),
  routes.post("/reconciliations/:id/approve", {
    summary: "Approve a reconciliation",
    description: "Makes stock what was counted. 404 without it; 409 when stock has moved since; 422 unless submitted.",
    permission: admin,
    success: reconciliations.Row
  }).handle((call) => approve(call, call.params.id))
]
