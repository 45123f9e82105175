import { Effect, Schema } from "effect"
import { about, EntityId, FreeText, group, inputOf, moveOf, offsetOf, resource, Uuid, VariantId } from "stoa/plugin"
import { BomInput, boms, BomView, bomView, BomWithItems, ItemInput, ItemView, itemView, NextVersion } from "./Bom.ts"
import { addItem, createBom, createVersion, itemsOf, rollUp } from "./Boms.ts"
import { Suggestion, suggestions } from "./OpenOrderRepo.ts"
import {
  ConsumeInput,
  ConsumptionView,
  consumptionView,
  orders,
  OrderWithConsumption,
  Output,
  Part,
  productionOrder
} from "./ProductionOrder.ts"
import { complete, consume, consumptionOf, createOrder, unrecord } from "./ProductionOrders.ts"
import { printOrder } from "./ProductionPaper.ts"
import { explode, minorUnits, recipesOf, stockUnitsOf } from "./Recipe.ts"

const routes = group("Production", "/production")
const [admin, create, read] = ["production:admin", "production:create", "production:read"]
const refused =
  "422 for goods that are not there, no line, a cycle, more than 100 levels, or a unit that cannot be converted."

type WithItems = Effect.Success<ReturnType<typeof createBom>>
const withItems = ({ items, ...bom }: WithItems) => ({ ...bomView(bom), items: items.map(itemView) })

const Needed = Schema.Struct({
  entityId: EntityId,
  variantId: Schema.NullOr(VariantId),
  itemName: Schema.String,
  totalQuantity: Schema.Finite.annotate({ description: "Stock units, rounded up once." }),
  uomId: Schema.NullOr(Uuid),
  unitCost: Schema.Finite.pipe(about("Cost of one unit in minor units.")),
  totalCost: Schema.Finite.pipe(about("Cost of `totalQuantity` in minor units."))
})

const bomRoutes = [
  ...resource(routes, "/boms", boms, {
    noun: "bill of material",
    read,
    write: admin,
    filters: ["entityId", "isActive"],
    view: { success: BomView, show: (rows) => Effect.succeed(rows.map(bomView)) },
    list: { summary: "List bills of material" },
    create: {
      description: refused,
      input: BomInput,
      success: BomWithItems,
      answer: ({ db, input }) => Effect.map(createBom(db, input), withItems)
    },
    get: {
      success: BomWithItems,
      answer: ({ db, which }) =>
        Effect.gen(function*() {
          const bom = yield* db.table(boms).get(which)
          return withItems({ ...bom, items: yield* itemsOf(db, bom.id) })
        })
    },
    without: [
      "entityId",
      "variantId",
      "version",
      "familyId",
      "yieldQuantity",
      "yieldUomId",
      "isActive",
      "level",
      "totalCost"
    ],
    patch: {
      summary: "Change the name of a bill of material or its end",
      description:
        "Orders planned for later than `validTo` are 422. What it takes and makes changes with its next version.",
      success: BomView,
      answer: ({ db, input, which }) => Effect.map(db.table(boms).update(which, input), bomView)
    },
    remove: false
  }),
  routes.post("/boms/:id/items", {
    summary: "Add a line to a bill of material",
    description: `${refused} 422 INVALID_TRANSITION for a version that is not active.`,
    permission: admin,
    input: ItemInput,
    success: ItemView
  }).handle(({ db, input, params: { id } }) => Effect.map(addItem(db, id, input), itemView)),
  routes.post("/boms/:id/versions", {
    summary: "Create the next version of a bill of material, which becomes the active one",
    description: `What refers to an older one means it from then on. ${refused}`,
    permission: admin,
    input: NextVersion,
    success: BomWithItems
  }).handle(({ db, input, params: { id } }) => Effect.map(createVersion(db, id, input), withItems)),
  routes.post("/boms/:id/cost-rollup", {
    summary: "Calculate the costs of a bill of material and of all below it",
    permission: admin,
    success: BomWithItems
  }).handle(({ db, params: { id } }) => Effect.map(rollUp(db, id), withItems)),
  routes.post("/boms/:id/explode", {
    summary: "Calculate the materials of so many stock units of the product",
    description: "Through all levels, merged by entity and variant.",
    permission: read,
    input: inputOf(orders, { required: ["quantity"] }),
    success: Schema.Array(Needed)
  }).handle(({ db, input: { quantity }, params: { id } }) =>
    Effect.gen(function*() {
      const { recipes, stockUnitOf } = yield* recipesOf(db, id)
      return yield* Effect.forEach(explode(recipes, quantity), ({ cost, entityId, quantity, ...material }) => {
        const each = cost.per(quantity)
        return Effect.all({
          totalQuantity: stockUnitsOf(quantity),
          unitCost: minorUnits(each),
          totalCost: minorUnits(each.times(quantity.ceil()))
        }).pipe(Effect.map((sums) => ({ ...material, ...sums, entityId, uomId: stockUnitOf(entityId) })))
      })
    })
  )
]

const orderRoutes = resource(routes, "/orders", orders, {
  noun: "production order",
  read,
  write: create,
  filters: ["status", "bomId", "entityId", "warehouseId"],
  search: ["orderNumber", "notes"],
  without: [
    "orderNumber",
    "variantId",
    "producedQuantity",
    "scrapQuantity",
    "producedBy",
    "materialCost",
    "batchNumber",
    "expiryDate"
  ],
  machine: productionOrder,
  moves: { start: false, complete: false, cancel: admin },
  create: ({ db, input }) => createOrder(db, input),
  get: {
    summary: "Get a production order with its consumption",
    success: OrderWithConsumption,
    answer: ({ db, which }) =>
      Effect.gen(function*() {
        const order = yield* db.table(orders).get(which)
        return { ...order, consumption: (yield* consumptionOf(db, order.id)).map(consumptionView) }
      })
  },
  patch: false,
  remove: false
})

type WithConsumption = Effect.Success<ReturnType<typeof complete>>
const orderView = ({ consumption, ...order }: WithConsumption) => ({
  ...order,
  consumption: consumption.map(consumptionView)
})

export const productionRoutes = [
  ...bomRoutes,
  ...orderRoutes,
  routes.raw("GET", "/orders/:id/pdf", {
    summary: "Print a production order",
    description: "With its materials: those of the recipe until it is completed, then those that it took.",
    permission: read,
    produces: "application/pdf"
  }, printOrder),
  moveOf(routes, "/orders", productionOrder, "start", {
    summary: "Start a production order",
    description: "422 INVALID_TRANSITION when it is not planned.",
    allowed: create,
    input: Schema.Struct({
      producedBy: FreeText.check(Schema.isBetweenLength(1, 255)).pipe(about("Name of the person who makes it."))
    }),
    change: ({ input }) => input
  }),
  routes.post("/orders/:id/consume", {
    summary: "Record what a production order takes",
    description:
      "It leaves stock when the order is completed. 422 for goods that are not there, and what is not whole in stock units.",
    permission: create,
    input: ConsumeInput,
    success: Schema.Array(ConsumptionView)
  }).handle(({ db, input, params: { id } }) => Effect.map(consume(db, id, input), (rows) => rows.map(consumptionView))),
  routes.delete("/orders/:id/consumption/:consumptionId", {
    summary: "Delete a consumption of a production order",
    description: "404 without it; 422 INVALID_TRANSITION unless the order is in progress.",
    permission: create,
    success: ConsumptionView
  }).handle(({ db, params: { consumptionId, id } }) => Effect.map(unrecord(db, id, consumptionId), consumptionView)),
  routes.post("/orders/:id/produce", {
    summary: "Complete a part of a production order",
    description:
      "Takes the materials of the part, or what was recorded since the last one, and brings it in. The rest stays open; the last " +
      "part completes the order. 422 as for `complete`.",
    permission: create,
    input: Part,
    success: OrderWithConsumption
  }).handle(({ db, input, params: { id }, services }) =>
    Effect.map(complete(db, services.inventory, id, input, true), orderView)
  ),
  routes.list("/suggestions", {
    summary: "List what to produce",
    description:
      "Products of which open orders and reorder thresholds ask for more than is there, on its way or in production.",
    permission: read,
    success: Suggestion
  }).handle(({ db, page }) =>
    Effect.map(
      db.use(suggestions)({ limit: page.limit, offset: offsetOf(page) }),
      (found) => ({ ...page, ...found })
    )
  ),
  routes.post("/orders/:id/complete", {
    summary: "Complete a production order",
    description:
      "Takes its materials from stock and brings in the product at what they cost. Without a body all that was ordered came " +
      "out. 422 when stock is too little or nothing was used, 422 INVALID_TRANSITION when it is not in progress.",
    permission: create,
    input: Schema.NullOr(Output),
    success: OrderWithConsumption
  }).handle(({ db, input, params: { id }, services }) =>
    Effect.map(complete(db, services.inventory, id, input ?? {}), orderView)
  )
]
