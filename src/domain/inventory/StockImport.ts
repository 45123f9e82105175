import { Context, DateTime, Effect, Equal, Layer, Result } from "effect"
import { CurrentActor } from "../access/Actor.ts"
import type { Sellable } from "../catalog/Sellables.ts"
import { Hooks } from "../hooks/Hooks.ts"
import { newId } from "../ids/Id.ts"
import type { ImportTable } from "../import-export/ImportBatch.ts"
import { refused, type Upsert, upsertOf } from "../import-export/Upsert.ts"
import { over } from "../pricing/Bounds.ts"
import { levelKey, StockImportRepo, type StockState } from "./StockImportRepo.ts"
import type { StockLevel } from "./StockLevel.ts"
import type { StockRecord } from "./StockRecord.ts"
import { adjustStock } from "./StockRules.ts"
import { WarehouseRepo } from "./WarehouseRepo.ts"

/** A level in a file with its target; a text says why the target was not found. */
export interface TargetedStock {
  readonly record: Omit<StockRecord, "slug" | "sku" | "options">
  readonly target: Sellable | string
}

const stockItems: ImportTable = {
  name: "stock_items",
  columns: { sellableId: "uuid", version: "bigint" },
  key: "organization_id, sellable_id",
  // The fence of the stock entity only moves forward, also for a sellable's first level in another warehouse.
  updates: ["version = t.version + 1"]
}

const stockLevels: ImportTable = {
  name: "stock_levels",
  columns: {
    id: "uuid",
    sellableId: "uuid",
    warehouseId: "uuid",
    entityId: "uuid",
    variantId: "uuid",
    quantityOnHand: "int on_hand",
    unitCost: "bigint",
    reorderThreshold: "int",
    reorderQuantity: "int",
    allowNegative: "boolean",
    updatedAt: "timestamptz"
  },
  key: "organization_id, sellable_id, warehouse_id",
  updates: ["on_hand", "unit_cost", "reorder_threshold", "reorder_quantity", "allow_negative", "updated_at"]
}

const stockMovements: ImportTable = {
  name: "stock_movements",
  columns: {
    id: "uuid",
    entityId: "uuid",
    variantId: "uuid",
    warehouseId: "uuid",
    type: "text",
    quantity: "int",
    reason: "text",
    performedBy: "text"
  },
  key: "id",
  updates: []
}

/** Imports stock on hand. Less than what is reserved is refused, as it is for an adjustment (contract 6). */
export class StockImport extends Context.Service<StockImport, {
  readonly upsert: Upsert<TargetedStock>
}>()("stoa/domain/inventory/StockImport") {
  static readonly layer = Layer.effect(
    StockImport,
    Effect.gen(function*() {
      const repo = yield* StockImportRepo
      const warehouses = yield* WarehouseRepo
      const hooks = yield* Hooks

      const load = Effect.fnUntraced(function*(stock: ReadonlyArray<TargetedStock>) {
        const { organizationId, userId } = yield* CurrentActor
        const now = DateTime.toDateUtc(yield* DateTime.now)
        yield* warehouses.ensureDefault
        const state = yield* repo.read(stock.flatMap(({ target }) => typeof target === "string" ? [] : [target]))
        return { ...state, organizationId, userId, now }
      })

      const upsert = yield* upsertOf(load, ({ record, target }, state, draft) => {
        const place = placeOf(record, target, state)
        if (typeof place === "string") return refused("", place, "not_found")
        const key = levelKey(place, place.warehouseId)
        const before = state.levels.get(key)
        const changed = levelAfter(before ?? blank(place, state.organizationId, state.now), record, state.now)
        if (Result.isFailure(changed)) {
          return Result.fail(changed.failure.error.details.issues.map((issue) => ({ ...issue, path: "onHand" })))
        }
        const after = changed.success
        if (after === before) return Result.succeed("known")
        state.levels.set(key, after)
        const sellableId = after.variantId ?? after.entityId
        draft.put(stockItems, { sellableId, version: 1 })
        draft.put(stockLevels, { ...after, sellableId })
        const quantity = after.quantityOnHand - (before?.quantityOnHand ?? 0)
        if (quantity !== 0) {
          const movement = { type: "adjustment", quantity, reason: "import", performedBy: state.userId }
          draft.put(stockMovements, { ...place, id: newId(), ...movement })
        }
        draft.change({
          type: "inventory.afterAdjust",
          entityType: "inventory",
          entityId: after.id,
          payload: after,
          before: before ?? null
        })
        draft.after(hooks.after("inventory.afterAdjust", after))
        return Result.succeed(before === undefined ? "new" : "known")
      })
      return { upsert }
    })
  )
}

interface Place extends Sellable {
  readonly warehouseId: string
}

const placeOf = (
  { warehouse }: TargetedStock["record"],
  target: Sellable | string,
  { firstWarehouse, warehouses }: StockState
): Place | string => {
  if (typeof target === "string") return target
  const warehouseId = typeof warehouse === "string" ? warehouses.get(warehouse) : firstWarehouse
  if (warehouseId !== undefined) return { ...target, warehouseId }
  return typeof warehouse === "string"
    ? `There is no warehouse with the code '${warehouse}'.`
    : "There is no active warehouse."
}

const blank = (place: Place, organizationId: string, now: Date): StockLevel => ({
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
const levelAfter = (level: StockLevel, record: TargetedStock["record"], now: Date) => {
  const { quantityOnHand: onHand, quantityReserved: reserved } = level
  const change = adjustStock({ onHand, reserved, allowNegative: false }, { type: "set", quantity: record.onHand })
  return Result.map(change, ({ after }): StockLevel => {
    const next = {
      ...level,
      quantityOnHand: after,
      available: after - reserved,
      unitCost: over(record.unitCost, level.unitCost),
      reorderThreshold: over(record.reorderThreshold, level.reorderThreshold),
      reorderQuantity: over(record.reorderQuantity, level.reorderQuantity)
    }
    if (level.version > 0 && Equal.equals(next, level)) return level
    // As in an adjustment: a level can go below what is reserved only if that was allowed before.
    return { ...next, allowNegative: after < reserved, version: level.version + 1, updatedAt: now }
  })
}
