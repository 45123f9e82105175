import { Effect, Schema } from "effect"
import {
  type EventCall,
  integerBetween,
  jsonOf,
  OrderId,
  type PluginDatabase,
  rowIn,
  type RowOf,
  table,
  uuid,
  WarehouseId
} from "stoa/plugin"
import { alerts } from "./AlertTables.ts"
import { Amount, amountsOf, together } from "./Ingredients.ts"
import { linesOfOrders, type OrderedLine } from "./MenuRepo.ts"
import { isBegun, kitchenWarehouse } from "./RecipeRepo.ts"
import { recipes } from "./Recipes.ts"
import type { RestaurantSettings } from "./RestaurantOptions.ts"

/** Ingredients that left stock for a line of an order. */
export const usedIngredients = table("pos_used_ingredients", {
  orderId: uuid,
  lineId: uuid.unique(),
  /** Of the line. */
  units: integerBetween(0, 1_000_000),
  warehouseId: uuid,
  amounts: jsonOf(Schema.Array(Amount), 100_000)
}, { indexes: [{ columns: ["orderId"] }], counted: false, changeLog: false })
type Used = RowOf<typeof usedIngredients>

const type = "ingredient_shortage"

/** Lines whose ingredients are not those of their units, with the units that they should have. */
const changesOf = (lines: ReadonlyArray<OrderedLine>, before: ReadonlyArray<Used>, takesNew: boolean) => {
  const removed = before.filter(({ lineId }) => lines.every(({ id }) => id !== lineId))
  return [
    ...lines.flatMap((line) => {
      const had = before.find(({ lineId }) => lineId === line.id)
      const quantity = line.isCancelled ? 0 : line.quantity
      return (had?.units ?? 0) === quantity || (had === undefined && !takesNew)
        ? []
        : [{ had, line: { ...line, quantity } }]
    }),
    ...removed.filter(({ units }) => units > 0).map((had) => ({ had, line: undefined }))
  ]
}

type Changes = ReturnType<typeof changesOf>

/** What lines take from then on, and what leaves stock for it; below 0 it comes back. */
const planned = Effect.fnUntraced(function*(db: PluginDatabase, changes: Changes) {
  const cooked = changes.flatMap(({ line }) => line === undefined || line.quantity === 0 ? [] : [line])
  const amounts = yield* amountsOf(db, cooked)
  const rows = changes.map(({ had, line }) => ({
    id: had?.id,
    lineId: line?.id ?? had?.lineId ?? "",
    units: line?.quantity ?? 0,
    amounts: (line && amounts[cooked.indexOf(line)]) ?? []
  }))
  const back = changes.flatMap(({ had }) => had?.amounts ?? []).map((one) => ({ ...one, quantity: -one.quantity }))
  const taken = together([...back, ...rows.flatMap((row) => row.amounts)]).filter(({ quantity }) => quantity !== 0)
  return { rows, taken }
})

/** Brings the ingredients that left stock to the lines of an order. Repeating it changes nothing. */
const followOrder = Effect.fn("Recipes.followOrder")(
  function*({ db, event, services }: EventCall, { shortage }: RestaurantSettings) {
    const orderId = OrderId.make(event.entityId)
    const lines = yield* db.use(linesOfOrders)([orderId])
    const before = yield* db.table(usedIngredients).list({ orderId }, { order: ["id"], lock: true })
    const takesNew = event.type === "orders.create" || event.type === "orders.update"
    const changes = changesOf(lines, before, takesNew)
    if (changes.length === 0) return
    if (lines.some(({ isCancelled }) => isCancelled) && (yield* db.use(isBegun)(orderId))) return
    const { rows, taken } = yield* planned(db, changes)
    const warehouseId = before[0]?.warehouseId ?? (yield* db.use(kitchenWarehouse)({ orderId }))
    if (warehouseId === undefined || rows.every(({ amounts, id }) => id === undefined && amounts.length === 0)) return
    const fresh = rows.flatMap(({ id, ...row }) => id === undefined ? [{ ...row, orderId, warehouseId }] : [])
    const known = rows.flatMap(({ id, ...row }) => id === undefined ? [] : [{ ...row, id }])
    if (fresh.length > 0) yield* db.table(usedIngredients).insertMany(fresh)
    if (known.length > 0) yield* db.table(usedIngredients).updateEach(known)
    if (taken.length === 0) return
    const posted = yield* services.inventory.post(
      { type: "recipe", id: event.id },
      taken.map(({ entityId, quantity, variantId }) => ({
        entityId,
        variantId,
        warehouseId: WarehouseId.make(warehouseId),
        delta: -quantity,
        type: quantity > 0 ? "sale" as const : "return" as const,
        allowNegative: true,
        reason: `Ingredients of order ${orderId}`
      }))
    )
    const short = taken.filter(({ quantity }, index) => quantity > 0 && (posted[index]?.quantityOnHand ?? 0) < 0)
    if (shortage === "warn" && short.length > 0) yield* raise(db, short)
  }
)

/** One alert about each ingredient, until it is resolved. */
const raise = Effect.fnUntraced(function*(db: PluginDatabase, short: ReadonlyArray<Amount>) {
  const about = (one: Amount) => one.variantId ?? one.entityId
  const open = yield* db.table(alerts).list({ type, referenceId: { in: short.map(about) }, isResolved: false })
  const made = yield* db.table(alerts).insertMany(
    short.filter((one) => open.every(({ referenceId }) => referenceId !== about(one))).map((one) => ({
      type,
      referenceType: "ingredient" as const,
      referenceId: about(one),
      message: `There is too little of ${one.ingredientName}.`
    }))
  )
  yield* db.announce(
    "pos-restaurant.alert",
    made.map((alert) => ({
      entityType: "pos_restaurant_alert",
      entityId: alert.id,
      payload: { ...alert, notifyRoles: [] }
    }))
  )
})

/** Ingredients leave stock when an order is made, and come back when it is cancelled before it is cooked. */
export const orderIngredients = (settings: RestaurantSettings) => ({
  "orders.*": {
    handler: (call: EventCall) => call.db.transaction(followOrder(call, settings)),
    only: { rowsIn: [rowIn(recipes, { where: { isActive: true } }), rowIn(usedIngredients, { column: "orderId" })] }
  }
} as const)
