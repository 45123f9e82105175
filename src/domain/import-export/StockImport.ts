import { Effect, Equal, Result, Schema, String, Struct } from "effect"
import { sellableFields, Sellables } from "../catalog/Sellables.ts"
import { adjustStock } from "../inventory/StockAdjustment.ts"
import { emptyLevel, levelSettings, maxUnits, StockLevel, withUnitCost } from "../inventory/StockLevel.ts"
import { StockRepo } from "../inventory/StockRepo.ts"
import { Movement } from "../inventory/StockTables.ts"
import { WarehouseRepo } from "../inventory/WarehouseRepo.ts"
import { CurrentActor } from "../platform/access/Actor.ts"
import { RowTable } from "../platform/batching/RowBatch.ts"
import { withPath } from "../platform/errors/ApiErrors.ts"
import { Hooks } from "../platform/hooks/Hooks.ts"
import { newId, Uuid } from "../platform/ids/Id.ts"
import { Table } from "../platform/records/Table.ts"
import { withSent } from "../platform/resources/RecordService.ts"
import { Text } from "../platform/text/Storable.ts"
import { passedOver, refused, upsertOf } from "./Upsert.ts"

/** Ignored on import: reservations and purchases determine it. */
const unread = Schema.optional(Schema.NullOr(Schema.Int))

/**
 * `onHand` replaces the stored quantity. `warehouse` is a code; default: the warehouse of the import or the first
 * active one.
 */
export const StockRecord = Schema.Struct({
  ...sellableFields,
  warehouse: Schema.optional(Schema.NullOr(Text)),
  onHand: Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: maxUnits })),
  reserved: unread,
  available: unread,
  ...Struct.pick(levelSettings, ["unitCost", "reorderThreshold", "reorderQuantity"])
}).annotate({ identifier: "StockRecord" })
export type StockRecord = typeof StockRecord.Type

const stockItems = new RowTable("stock_items", Schema.Struct({ sellableId: Uuid, version: Schema.Int }), {
  key: "organization_id, sellable_id",
  // The fence of the stock entity only moves forward, also for a sellable's first level in another warehouse.
  updates: "version = t.version + 1"
})

const place = ["entityId", "variantId", "warehouseId"] as const
const replaced = ["unitCost", "reorderThreshold", "reorderQuantity", "allowNegative", "updatedAt"] as const

const stockLevels = new RowTable(
  "stock_levels",
  Schema.Struct({
    ...Struct.pick(StockLevel.fields, ["id", ...place, ...replaced]),
    sellableId: Uuid,
    onHand: StockLevel.fields.quantityOnHand
  }),
  {
    key: "organization_id, sellable_id, warehouse_id",
    updates: [
      // A cost that stays keeps the decimals of its average.
      "average_cost = case when excluded.unit_cost = t.unit_cost then t.average_cost end",
      ...["onHand", ...replaced].map(String.camelToSnake).map((column) => `${column} = excluded.${column}`)
    ].join(", ")
  }
)

export const movements = new Table(
  "stock_movements",
  Movement.mapFields(Struct.omit(["organizationId", "referenceType", "referenceId", "performedAt"]))
)

export const stockImport = Effect.gen(function*() {
  const stock = yield* StockRepo
  const warehouses = yield* WarehouseRepo
  const hooks = yield* Hooks
  const sellables = yield* Sellables

  const load = Effect.fn("StockImport.load")(function*(records: ReadonlyArray<StockRecord>) {
    const { userId } = yield* CurrentActor
    const targets = yield* sellables.find(records)
    yield* warehouses.ensureDefault
    return { userId, targets, ...yield* stock.lockForImport(targets.filter((target) => typeof target !== "string")) }
  })

  return yield* upsertOf(load, (record, state, draft, index) => {
    const target = state.targets[index] ?? ""
    if (typeof target === "string") return refused("", target, "not_found")
    const { counted, ...sellable } = target
    if (!counted) {
      return passedOver(
        "",
        "The stock of these goods is not counted (manageInventory is false): nothing was changed.",
        "not_counted"
      )
    }
    const warehouse = record.warehouse ?? state.warehouse
    const warehouseId = warehouse === null ? state.firstWarehouse : state.warehouses.get(warehouse)
    if (warehouseId === undefined) {
      const problem = warehouse === null
        ? "There is no active warehouse."
        : `There is no warehouse with the code '${warehouse}'.`
      return refused("", problem, "not_found")
    }
    const sellableId = target.variantId ?? target.entityId
    const key = `${sellableId} ${warehouseId}`
    const before = state.levels.get(key)
    const place = { ...sellable, warehouseId }
    const changed = levelAfter(
      before ?? emptyLevel({ id: newId(), organizationId: state.organizationId, ...place, updatedAt: state.now }),
      record,
      state.now
    )
    if (Result.isFailure(changed)) {
      return Result.fail(changed.failure.error.details.issues.map((issue) => withPath(issue, "onHand")))
    }
    const after = changed.success
    if (after === before) return Result.succeed("stored")
    state.levels.set(key, after)
    draft.put(stockItems, { sellableId, version: 1 })
    draft.put(stockLevels, { ...after, sellableId, onHand: after.quantityOnHand })
    const quantity = after.quantityOnHand - (before?.quantityOnHand ?? 0)
    if (quantity !== 0) {
      const movement = { type: "adjustment" as const, quantity, reason: "import", performedBy: state.userId }
      draft.put(movements, { ...place, id: newId(), ...movement, unitCost: after.averageCost })
    }
    const of = { type: "inventory.afterAdjust", entityType: "inventory", entityId: after.id } as const
    draft.change({ ...of, payload: after, before: before ?? null })
    draft.after(hooks.after("inventory.afterAdjust", after))
    return Result.succeed(before === undefined ? "new" : "stored")
  })
})

const levelAfter = (
  level: StockLevel,
  { onHand: quantity, reorderQuantity, reorderThreshold, unitCost }: StockRecord,
  now: Date
) => {
  const { quantityOnHand: onHand, quantityReserved: reserved } = level
  const change = adjustStock({ onHand, reserved, allowNegative: false }, { type: "set", quantity })
  return Result.map(change, ({ after }): StockLevel => {
    const counted = { ...level, quantityOnHand: after, available: after - reserved }
    const next = withSent(withUnitCost(counted, unitCost), { reorderThreshold, reorderQuantity })
    if (level.version > 0 && Equal.equals(next, level)) return level
    return { ...next, allowNegative: after < reserved, version: level.version + 1, updatedAt: now }
  })
}
