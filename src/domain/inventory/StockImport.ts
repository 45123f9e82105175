import { Effect, Equal, Result } from "effect"
import { CurrentActor } from "../access/Actor.ts"
import type { RowTable } from "../batching/RowBatch.ts"
import { type Sellable, Sellables } from "../catalog/Sellables.ts"
import { Hooks } from "../hooks/Hooks.ts"
import { newId } from "../ids/Id.ts"
import { type BatchContext, overlay, refused, upsertOf } from "../import-export/Upsert.ts"
import { stockReads } from "./StockImportRepo.ts"
import type { StockLevel } from "./StockLevel.ts"
import type { StockRecord } from "./StockRecord.ts"
import { adjustStock } from "./StockRules.ts"
import { WarehouseRepo } from "./WarehouseRepo.ts"

const stockItems: RowTable = {
  name: "stock_items",
  columns: "sellable_id, version",
  key: "organization_id, sellable_id",
  // The fence of the stock entity only moves forward, also for a sellable's first level in another warehouse.
  updates: ["version = t.version + 1"]
}

const stockLevels: RowTable = {
  name: "stock_levels",
  columns: "id, sellable_id, warehouse_id, entity_id, variant_id, on_hand, unit_cost, reorder_threshold, " +
    "reorder_quantity, allow_negative, updated_at",
  key: "organization_id, sellable_id, warehouse_id",
  updates: ["on_hand", "unit_cost", "reorder_threshold", "reorder_quantity", "allow_negative", "updated_at"]
}

const stockMovements: RowTable = {
  name: "stock_movements",
  columns: "id, entity_id, variant_id, warehouse_id, type, quantity, reason, performed_by",
  key: "id"
}

/** Imports stock on hand. Less than what is reserved is refused, as it is for an adjustment (contract 6). */
export const stockImport = Effect.gen(function*() {
  const read = yield* stockReads
  const warehouses = yield* WarehouseRepo
  const hooks = yield* Hooks
  const sellables = yield* Sellables

  const load = Effect.fn("StockImport.load")(function*(records: ReadonlyArray<StockRecord>) {
    const { userId } = yield* CurrentActor
    const targets = yield* sellables.find(records)
    yield* warehouses.ensureDefault
    return { userId, targets, ...yield* read(targets.filter((target) => typeof target !== "string")) }
  })

  return yield* upsertOf(load, (record, state, draft, index) => {
    const target = state.targets[index] ?? ""
    if (typeof target === "string") return refused("", target, "not_found")
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
    const place = { ...target, warehouseId }
    const changed = levelAfter(before ?? blank(place, state), record, state.now)
    if (Result.isFailure(changed)) {
      return Result.fail(changed.failure.error.details.issues.map((issue) => ({ ...issue, path: "onHand" })))
    }
    const after = changed.success
    if (after === before) return Result.succeed("stored")
    state.levels.set(key, after)
    draft.put(stockItems, { sellableId, version: 1 })
    draft.put(stockLevels, { ...after, sellableId, onHand: after.quantityOnHand })
    const quantity = after.quantityOnHand - (before?.quantityOnHand ?? 0)
    if (quantity !== 0) {
      const movement = { type: "adjustment", quantity, reason: "import", performedBy: state.userId }
      draft.put(stockMovements, { ...place, id: newId(), ...movement })
    }
    const of = { type: "inventory.afterAdjust", entityType: "inventory", entityId: after.id } as const
    draft.change({ ...of, payload: after, before: before ?? null })
    draft.after(hooks.after("inventory.afterAdjust", after))
    return Result.succeed(before === undefined ? "new" : "stored")
  })
})

const blank = (
  place: Sellable & Pick<StockLevel, "warehouseId">,
  { now, organizationId }: BatchContext
): StockLevel => ({
  id: newId(),
  organizationId,
  ...place,
  quantityOnHand: 0,
  quantityReserved: 0,
  quantityIncoming: 0,
  available: 0,
  unitCost: null,
  reorderThreshold: null,
  reorderQuantity: null,
  allowNegative: false,
  version: 0,
  lastRestockedAt: null,
  updatedAt: now
})

/** The level after the record; the same object if nothing changes. */
const levelAfter = (
  level: StockLevel,
  { onHand: quantity, reorderQuantity, reorderThreshold, unitCost }: StockRecord,
  now: Date
) => {
  const { quantityOnHand: onHand, quantityReserved: reserved } = level
  const change = adjustStock({ onHand, reserved, allowNegative: false }, { type: "set", quantity })
  return Result.map(change, ({ after }): StockLevel => {
    const counted = { ...level, quantityOnHand: after, available: after - reserved }
    const next = overlay(counted, { unitCost, reorderThreshold, reorderQuantity })
    if (level.version > 0 && Equal.equals(next, level)) return level
    // As in an adjustment: a level can go below what is reserved only if that was allowed before.
    return { ...next, allowNegative: after < reserved, version: level.version + 1, updatedAt: now }
  })
}
