import { Effect } from "effect"
import {
  businessDate,
  type CoreServices,
  invalid,
  LocalTimeZone,
  type NewRowOf,
  type PluginDatabase
} from "stoa/plugin"
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
class BomEnded extends invalid(
  "BomEnded",
  "plannedDate",
  (last: string) => `plannedDate must be at most ${last}, the last day of the bill of material.`
) {}
class NothingUsed extends invalid("NothingUsed", "items", "items must contain at least one quantity above 0.") {}
class OutputMismatch extends invalid(
  "OutputMismatch",
  "producedQuantity",
  "producedQuantity + scrapQuantity must be between 1 and what is left of the ordered quantity."
) {}

export const consumptionOf = (db: PluginDatabase, productionOrderId: string) =>
  db.table(consumption).list({ productionOrderId }, { order: ["createdAt"] })

/** An order with its number. 422 for another product, or an inactive version; 404 for an unknown bill of material. */
export const createOrder = (db: PluginDatabase, input: Omit<NewRowOf<typeof orders>, "orderNumber">) =>
  db.transaction(Effect.gen(function*() {
    const bom = yield* db.table(boms).get(input.bomId)
    if (!bom.isActive) return yield* new BomInactive()
    if (bom.entityId !== input.entityId) return yield* new OtherProduct()
    const day = businessDate(input.plannedDate, yield* LocalTimeZone)
    if (bom.validTo !== null && bom.validTo < day) return yield* new BomEnded(bom.validTo)
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
    return yield* db.table(consumption).delete({ id, productionOrderId, isTaken: false })
  }))

/** The materials of what was made, by the recipe, with exact costs; planned is what all that was ordered takes. */
const planned = Effect.fnUntraced(function*(db: PluginDatabase, order: ProductionOrder, made: number, ordered: number) {
  const { recipes, stockUnitOf } = yield* recipesOf(db, order.bomId)
  const assemblies = recipes.flatMap(({ lines }) =>
    lines.flatMap(({ item }) => item.isSubAssembly ? item.entityId : [])
  )
  const stock = yield* db.use(stockOf)(order.warehouseId, assemblies)
  const available = new Map(stock.map((level) => [keyOf(level), level.available]))
  const inStock = (goods: Parameters<typeof keyOf>[0]) => available.get(keyOf(goods)) ?? 0
  const used = new Map(explode(recipes, made, inStock).map((material) => [keyOf(material), material]))
  const rows = yield* Effect.forEach(
    explode(recipes, ordered, inStock),
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
    used: ReadonlyArray<Used>,
    posting: string
  ) {
    const { batchNumber, entityId, expiryDate, producedQuantity, variantId, warehouseId } = order
    const [lots, lines] = [yield* Lots, yield* postingLines(db, order, used)]
    if (batchNumber !== null) {
      yield* lots.receive([{ entityId, variantId, warehouseId, quantity: producedQuantity, batchNumber, expiryDate }])
    }
    return yield* lots.post(inventory, { type: "production", id: posting }, lines)
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
        lots: Effect.succeed(posted[n]?.lots ?? []),
        isTaken: Effect.succeed(true)
      })
    }),
    materialCost: minorUnits(totals.reduce((sum, total) => sum.plus(total), Rational.of(0)))
  })
}

/** The output of an order, or of a part of what is left. */
const outputOf = (left: number, { producedQuantity, scrapQuantity = 0, ...lot }: Output) => {
  const produced = producedQuantity ?? left - scrapQuantity
  const made = produced + scrapQuantity
  return produced < 0 || made < 1 || made > left
    ? Effect.fail(new OutputMismatch())
    : Effect.succeed({ ...lot, producedQuantity: produced, scrapQuantity })
}

/**
 * Completes an order, or a part of it whose rest stays open: materials leave stock and the product comes in at what they cost,
 * in one transaction with the order and once for it. Without recorded consumption it takes what the recipe says. 422 where
 * stock is too little.
 */
export const complete = (
  db: PluginDatabase,
  inventory: CoreServices["inventory"],
  id: string,
  given: Output,
  isPart = false
) =>
  db.transaction(Effect.gen(function*() {
    const before = yield* db.use(productionOrder).lock("complete", id)
    const left = before.quantity - before.producedQuantity - before.scrapQuantity
    const output = yield* outputOf(left, given)
    const { batchNumber = null, expiryDate = null } = output
    const order = { ...before, ...output, batchNumber, expiryDate }
    const recorded = (yield* consumptionOf(db, order.id)).filter(({ isTaken }) => !isTaken)
    const made = output.producedQuantity + output.scrapQuantity
    const { costs, rows } = recorded.length > 0
      ? { rows: recorded, costs: new Map<string, Rational>() }
      : yield* planned(db, order, made, isPart ? made : left)
    const inStock = yield* Units.use(({ toStock }) =>
      toStock(rows.map((row) => ({ ...row, quantity: row.actualQuantity })))
    )
    const used = rows.flatMap((row, n): ReadonlyArray<Used> => {
      const { quantity = 0, unitCost = "0" } = inStock[n] ?? {}
      return quantity === 0 ? [] : [{ row, quantity, cost: costs.get(keyOf(row)) ?? Rational.of(unitCost) }]
    })
    // Each part posts once: no two begin with as much left.
    const posting = left === before.quantity ? order.id : `${order.id}/${left}`
    const posted = yield* moveGoods(db, inventory, order, used, posting)
    const all = yield* settled(used, posted)
    yield* db.table(consumption).updateEach(all.rows)
    const sums = {
      ...output,
      producedQuantity: before.producedQuantity + output.producedQuantity,
      scrapQuantity: before.scrapQuantity + output.scrapQuantity,
      materialCost: before.materialCost + all.materialCost
    }
    const after = isPart && made < left
      ? yield* db.table(orders).update(order.id, sums)
      : yield* db.use(productionOrder).move("complete", order.id, sums)
    return { ...after, consumption: yield* consumptionOf(db, order.id) }
  }))
