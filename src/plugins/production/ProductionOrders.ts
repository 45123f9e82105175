import { Effect } from "effect"
import { type CoreServices, invalid, type NewRowOf, type PluginDatabase } from "stoa/plugin"
import { Rational, Units } from "../uom/index.ts"
import { type LotLine, Lots, type TakenLot } from "../warehouse/index.ts"
import { boms } from "./Bom.ts"
import { stockOf } from "./BomRepo.ts"
import {
  type ConsumeInput,
  type Consumption,
  consumption,
  orderNumbers,
  orders,
  type Output,
  type ProductionOrder,
  productionOrder
} from "./ProductionOrder.ts"
import { explode, keyOf, minorUnits, recipesOf } from "./Recipe.ts"

class OtherProduct extends invalid("OtherProduct", "entityId", "entityId must be what the bill of material makes.") {}
class BomInactive
  extends invalid("BomInactive", "bomId", "bomId must be the active version of its bill of material.")
{}
class NothingUsed extends invalid("NothingUsed", "items", "items must contain at least one quantity above 0.") {}
class OutputMismatch extends invalid(
  "OutputMismatch",
  "producedQuantity",
  "producedQuantity + scrapQuantity must be between 1 and the ordered quantity."
) {}

export const consumptionOf = (db: PluginDatabase, productionOrderId: string) =>
  db.table(consumption).list({ productionOrderId }, { order: ["createdAt"], limit: Number.MAX_SAFE_INTEGER })

/** An order with its number. 422 for another product, or an inactive version; 404 for an unknown bill of material. */
export const createOrder = (db: PluginDatabase, input: Omit<NewRowOf<typeof orders>, "orderNumber">) =>
  db.transaction(Effect.gen(function*() {
    const bom = yield* db.table(boms).get(input.bomId)
    if (!bom.isActive) return yield* new BomInactive()
    if (bom.entityId !== input.entityId) return yield* new OtherProduct()
    const { variantId } = bom
    return yield* db.table(orders).insert({ ...input, variantId, orderNumber: yield* db.use(orderNumbers).next(input) })
  }))

const costOf = (quantity: string | number, unitCost: number) => minorUnits(Rational.of(quantity).times(unitCost))

/** Records what an order takes. 422 for what is not whole in stock units. */
export const consume = (db: PluginDatabase, id: string, { items }: typeof ConsumeInput.Type) =>
  db.transaction(Effect.gen(function*() {
    const order = yield* db.use(productionOrder).lock("complete", id)
    yield* Units.use(({ toStock }) => toStock(items.map((item) => ({ ...item, quantity: item.actualQuantity }))))
    const rows = yield* Effect.forEach(
      items,
      (item) =>
        Effect.map(costOf(item.actualQuantity, item.unitCost), (totalCost) => ({
          ...item,
          productionOrderId: order.id,
          plannedQuantity: String(item.plannedQuantity),
          actualQuantity: String(item.actualQuantity),
          totalCost
        }))
    )
    return yield* db.table(consumption).insertMany(rows)
  }))

/** Takes back what was recorded by mistake. 404 without it; 422 unless the order is in progress. */
export const unrecord = (db: PluginDatabase, productionOrderId: string, id: string) =>
  db.transaction(Effect.gen(function*() {
    yield* db.use(productionOrder).lock("complete", productionOrderId)
    return yield* db.table(consumption).delete({ id, productionOrderId })
  }))

/** The materials of what was made, by the recipe, with exact costs; planned is what all that was ordered takes. */
const planned = Effect.fnUntraced(function*(db: PluginDatabase, order: ProductionOrder, made: number) {
  const { recipes, stockUnitOf } = yield* recipesOf(db, order.bomId)
  const assemblies = recipes.flatMap(({ lines }) =>
    lines.flatMap(({ item }) => item.isSubAssembly ? item.entityId : [])
  )
  const stock = yield* db.use(stockOf)(order.warehouseId, assemblies)
  const available = new Map(stock.map((level) => [keyOf(level), level.available]))
  const inStock = (goods: Parameters<typeof keyOf>[0]) => available.get(keyOf(goods)) ?? 0
  const used = new Map(explode(recipes, made, inStock).map((material) => [keyOf(material), material]))
  const rows = yield* Effect.forEach(
    explode(recipes, order.quantity, inStock),
    (material) =>
      Effect.map(minorUnits(material.cost.per(material.quantity)), (unitCost) => ({
        productionOrderId: order.id,
        entityId: material.entityId,
        variantId: material.variantId,
        plannedQuantity: String(material.quantity.ceil()),
        actualQuantity: String(used.get(keyOf(material))?.quantity.ceil() ?? 0),
        uomId: stockUnitOf(material.entityId),
        unitCost
      }))
  )
  const costs = new Map([...used].map(([key, { cost, quantity }]) => [key, cost.per(quantity)]))
  return { rows: yield* db.table(consumption).insertMany(rows), costs }
})

/** A row in whole stock units, with what a unit costs by the recipe or the request. */
interface Used {
  readonly row: Consumption
  readonly quantity: number
  readonly cost: Rational
}

/** What a product unit costs: what left stock, exactly; where stock has no cost yet, what the recipe or request says. */
const productCost = Effect.fnUntraced(function*(db: PluginDatabase, order: ProductionOrder, used: ReadonlyArray<Used>) {
  const stock = yield* db.use(stockOf)(order.warehouseId, used.map(({ row }) => row.entityId))
  const costs = new Map(stock.map((level) => [keyOf(level), level.unitCost]))
  const isKnown = (row: Consumption) => keyOf(row) !== keyOf(order) && typeof costs.get(keyOf(row)) === "string"
  if (used.every(({ row }) => isKnown(row))) return "issued" as const
  const total = used.reduce(
    (sum, { cost, quantity, row }) => sum.plus(Rational.of(costs.get(keyOf(row)) ?? cost).times(quantity)),
    Rational.of(0)
  )
  return total.per(order.producedQuantity).decimal(10)
})

const postingLines = Effect.fnUntraced(
  function*(db: PluginDatabase, order: ProductionOrder, used: ReadonlyArray<Used>) {
    if (used.length === 0) return yield* new NothingUsed()
    const { entityId, producedQuantity, variantId, warehouseId } = order
    const out = used.map(({ quantity, row }): LotLine => ({
      entityId: row.entityId,
      variantId: row.variantId,
      warehouseId,
      delta: -quantity,
      batchNumber: row.batchNumber
    }))
    if (producedQuantity === 0) return out
    const unitCost = yield* productCost(db, order, used)
    return [...out, { entityId, variantId, warehouseId, delta: producedQuantity, unitCost, average: true }]
  }
)

/** Moves stock once: materials leave with their lots, and the product comes in with one if it has a batch. */
const moveGoods = Effect.fnUntraced(
  function*(
    db: PluginDatabase,
    inventory: CoreServices["inventory"],
    order: ProductionOrder,
    used: ReadonlyArray<Used>
  ) {
    const { batchNumber, entityId, expiryDate, id, producedQuantity, variantId, warehouseId } = order
    const [lots, lines] = [yield* Lots, yield* postingLines(db, order, used)]
    if (batchNumber !== null) {
      yield* lots.receive([{ entityId, variantId, warehouseId, quantity: producedQuantity, batchNumber, expiryDate }])
    }
    return yield* lots.post(inventory, { type: "production", id }, lines)
  }
)

/** The rows with what they cost when they left and the lots they came from, and the cost of all, which is rounded once. */
const settled = (
  used: ReadonlyArray<Used>,
  posted: ReadonlyArray<{ readonly unitCost: string | null; readonly lots: ReadonlyArray<TakenLot> }>
) => {
  const totals = used.map(({ cost, quantity }, n) => Rational.of(posted[n]?.unitCost ?? cost).times(quantity))
  return Effect.all({
    rows: Effect.forEach(used, ({ row }, n) => {
      const total = totals[n] ?? Rational.of(0)
      return Effect.all({
        id: Effect.succeed(row.id),
        unitCost: minorUnits(total.per(row.actualQuantity)),
        totalCost: minorUnits(total),
        lots: Effect.succeed(posted[n]?.lots ?? [])
      })
    }),
    materialCost: minorUnits(totals.reduce((sum, total) => sum.plus(total), Rational.of(0)))
  })
}

/** How much came out. A part of the order may do so; the rest is not made. */
const outputOf = ({ quantity }: ProductionOrder, { producedQuantity, scrapQuantity = 0, ...lot }: Output) => {
  const produced = producedQuantity ?? quantity - scrapQuantity
  const made = produced + scrapQuantity
  return produced < 0 || made < 1 || made > quantity
    ? Effect.fail(new OutputMismatch())
    : Effect.succeed({ ...lot, producedQuantity: produced, scrapQuantity })
}

/**
 * Completes an order: materials leave stock and the product comes in at what they cost, in one transaction with the order and
 * once for it. Without recorded consumption it takes what the recipe says. 422 where stock is too little.
 */
export const complete = (db: PluginDatabase, inventory: CoreServices["inventory"], id: string, given: Output) =>
  db.transaction(Effect.gen(function*() {
    const before = yield* db.use(productionOrder).lock("complete", id)
    const output = yield* outputOf(before, given)
    const order = {
      ...before,
      ...output,
      batchNumber: output.batchNumber ?? null,
      expiryDate: output.expiryDate ?? null
    }
    const recorded = yield* consumptionOf(db, order.id)
    const made = output.producedQuantity + output.scrapQuantity
    const { costs, rows } = recorded.length > 0
      ? { rows: recorded, costs: new Map<string, Rational>() }
      : yield* planned(db, order, made)
    const inStock = yield* Units.use(({ toStock }) =>
      toStock(rows.map((row) => ({ ...row, quantity: row.actualQuantity })))
    )
    const used = rows.flatMap((row, n): ReadonlyArray<Used> => {
      const { quantity = 0, unitCost = "0" } = inStock[n] ?? {}
      return quantity === 0 ? [] : [{ row, quantity, cost: costs.get(keyOf(row)) ?? Rational.of(unitCost) }]
    })
    const posted = yield* moveGoods(db, inventory, order, used)
    const all = yield* settled(used, posted)
    const { materialCost } = all
    yield* db.table(consumption).updateEach(all.rows)
    const completed = yield* db.use(productionOrder).move("complete", order.id, { ...output, materialCost })
    return { ...completed, consumption: yield* consumptionOf(db, order.id) }
  }))
