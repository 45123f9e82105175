import { Schema } from "effect"
import {
  about,
  amount,
  boolean,
  childOf,
  date,
  EntityId,
  fieldsOf,
  idOf,
  inputOf,
  integerBetween,
  jsonOf,
  longText,
  machine,
  modelOf,
  numbers,
  oneOf,
  type RowOf,
  table,
  text,
  timestamp,
  uuid,
  VariantId,
  WarehouseId
} from "stoa/plugin"
import { TakenLot } from "../warehouse/index.ts"
import { boms, Quantity, quantity } from "./Bom.ts"

const maxUnits = 2_147_483_647

/** Orders to make a product (contract, plugins §7). Quantities are stock units of the product. */
export const orders = table("production_orders", {
  orderNumber: text.unique().about("Number on the papers."),
  bomId: uuid.references(boms, "restrict"),
  entityId: idOf(EntityId).existing("entity"),
  variantId: idOf(VariantId).existing("variant").nullable,
  quantity: integerBetween(1, maxUnits).about("Planned units."),
  producedQuantity: integerBetween(0, maxUnits).default(0).about("Units that came into stock."),
  scrapQuantity: integerBetween(0, maxUnits).default(0).about(
    "Units that were made and thrown away. Their materials are part of the cost of the rest."
  ),
  warehouseId: idOf(WarehouseId).existing("warehouse"),
  status: oneOf(["planned", "in_progress", "completed", "cancelled"]).default("planned").about(
    "Materials leave stock at the completion, also of a part."
  ),
  plannedDate: timestamp.about("When it should begin."),
  startedAt: timestamp.nullable,
  completedAt: timestamp.nullable,
  producedBy: text.nullable.about("User who finished it."),
  materialCost: amount.default(0).about("Cost of the parts it used."),
  batchNumber: text.nullable.about("Batch that was made."),
  expiryDate: date.nullable.about("Last day on which the goods are good."),
  notes: longText.nullable
})
export type ProductionOrder = RowOf<typeof orders>

const words = {
  planned: "Quantity by the bill of material, in `uomId`, else in the stock unit.",
  actual: "Quantity that was used, in `uomId`, else in the stock unit."
}

/** What an order takes. It leaves stock when the order is completed; from then on it costs what it cost there. */
export const consumption = childOf(orders, "productionOrderId", "production_consumption", {
  productionOrderId: uuid.references(orders),
  entityId: idOf(EntityId).existing("entity"),
  variantId: idOf(VariantId).existing("variant").nullable,
  plannedQuantity: quantity.about(words.planned),
  actualQuantity: quantity.about(words.actual),
  /** Null: the stock unit. */
  uomId: uuid.references("units_of_measure", "restrict").nullable,
  unitCost: amount,
  totalCost: amount.default(0),
  batchNumber: text.nullable.about("Batch that was made."),
  isTaken: boolean.default(false).about("It has left stock."),
  lots: jsonOf(Schema.Array(TakenLot), 65_536).default([]).about("Lots that it was taken from.")
}, { checks: { costs: "unit_cost >= 0" } })
export type Consumption = RowOf<typeof consumption>

export const orderNumbers = numbers({ kind: "PRD" })

export const productionOrder = machine(orders, {
  noun: "production order",
  moves: {
    start: { from: ["planned"], to: "in_progress", stamp: "startedAt", emits: "production.started" },
    complete: { from: ["in_progress"], to: "completed", stamp: "completedAt", emits: "production.completed" },
    cancel: { from: ["planned", "in_progress"], to: "cancelled", emits: "production.cancelled" }
  }
})

export const ConsumeInput = Schema.Struct({
  items: Schema.Array(Schema.Struct({
    ...inputOf(consumption, { required: ["entityId", "unitCost"], optional: ["variantId", "uomId", "batchNumber"] })
      .fields,
    plannedQuantity: Quantity.pipe(about(words.planned)),
    actualQuantity: Quantity.pipe(about(words.actual))
  })).check(Schema.isBetweenLength(1, 500))
})

/** What came out; without it all that was ordered. */
export const Output = inputOf(orders, { optional: ["producedQuantity", "scrapQuantity", "batchNumber", "expiryDate"] })
export type Output = typeof Output.Type

/** The output of a part. */
export const Part = inputOf(orders, {
  required: ["producedQuantity"],
  optional: ["scrapQuantity", "batchNumber", "expiryDate"]
})

export const ConsumptionView = Schema.Struct({
  ...fieldsOf(consumption),
  plannedQuantity: Schema.Finite.pipe(about(words.planned)),
  actualQuantity: Schema.Finite.pipe(about(words.actual))
})
export const OrderWithConsumption = Schema.Struct({
  ...fieldsOf(orders),
  consumption: Schema.Array(ConsumptionView).pipe(about("Materials that it takes."))
})

export const consumptionView = (row: Consumption): typeof ConsumptionView.Type => ({
  ...row,
  plannedQuantity: Number(row.plannedQuantity),
  actualQuantity: Number(row.actualQuantity)
})

/** What was made and what it cost. */
export const productionModel = modelOf(orders, {
  name: "ProductionOrders",
  sums: ["quantity", "producedQuantity", "scrapQuantity", "materialCost"],
  dims: ["status", "entityId", "warehouseId", "completedAt", "createdAt"]
})
