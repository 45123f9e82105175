import { Context, DateTime, Effect, Equal, Layer, Result } from "effect"
import { CurrentActor } from "../access/Actor.ts"
import type { Sellable } from "../catalog/Sellables.ts"
import { Hooks } from "../hooks/Hooks.ts"
import { newId } from "../ids/Id.ts"
import { type BatchResult, type Outcome, refusedFor } from "../import-export/Outcome.ts"
import { levelKey, StockBatchRepo, type StockState, type StockWrite } from "./StockBatchRepo.ts"
import type { StockLevel } from "./StockLevel.ts"
import type { StockRecord } from "./StockRecord.ts"
import { adjustStock } from "./StockRules.ts"
import { WarehouseRepo } from "./WarehouseRepo.ts"

/** A level of a file, with what lies there; a text says why that is not known. */
export interface PlacedStock {
  readonly record: Omit<StockRecord, "slug" | "sku" | "options">
  readonly target: Sellable | string
}

/** Sets what lies in warehouses for many things at once, as files bring it (docs/import-export.md). */
export class StockBatches extends Context.Service<StockBatches, {
  /**
   * One outcome for each, by a constant number of statements; to be called inside of a transaction. Less than what is
   * reserved is refused, as an adjustment is (contract 6).
   */
  readonly apply: (stock: ReadonlyArray<PlacedStock>) => Effect.Effect<BatchResult, never, CurrentActor>
}>()("stoa/domain/inventory/StockBatches") {
  static readonly layer = Layer.effect(
    StockBatches,
    Effect.gen(function*() {
      const repo = yield* StockBatchRepo
      const warehouses = yield* WarehouseRepo
      const hooks = yield* Hooks

      const apply = Effect.fn("StockBatches.apply")(function*(stock: ReadonlyArray<PlacedStock>) {
        const { organizationId, userId } = yield* CurrentActor
        const now = DateTime.toDateUtc(yield* DateTime.now)
        yield* warehouses.ensureDefault
        const targets = stock.flatMap(({ target }) => typeof target === "string" ? [] : [target])
        const state = yield* repo.read(targets)
        const levels = new Map(state.levels)
        const writes: Array<StockWrite> = []
        const outcomes = stock.map(({ record, target }): Outcome => {
          const placed = placeOf(record, target, state)
          if (typeof placed === "string") return refusedFor("", placed, "not_found")
          const key = levelKey(placed, placed.warehouseId)
          const before = levels.get(key)
          const after = levelAfter(before ?? blank(placed, organizationId, now), record, now)
          if (Result.isFailure(after)) {
            const { issues } = after.failure.error.details
            return { _tag: "refused", issues: issues.map((issue) => ({ ...issue, path: "onHand" })) }
          }
          if (after.success === before) return { _tag: "unchanged" }
          levels.set(key, after.success)
          const delta = after.success.quantityOnHand - (before?.quantityOnHand ?? 0)
          writes.push({ before, after: after.success, delta, movementId: newId(), performedBy: userId })
          return { _tag: before === undefined ? "created" : "updated" }
        })
        yield* repo.write(writes)
        const tell = Effect.forEach(writes, ({ after }) => hooks.after("inventory.afterAdjust", after), {
          discard: true
        })
        const result: BatchResult = { outcomes, told: tell }
        return result
      })

      return { apply }
    })
  )
}

interface Place extends Sellable {
  readonly warehouseId: string
}

const placeOf = (record: PlacedStock["record"], target: Sellable | string, state: StockState): Place | string => {
  if (typeof target === "string") return target
  const warehouseId = typeof record.warehouse === "string"
    ? state.warehouses.get(record.warehouse)
    : state.firstWarehouse
  if (warehouseId !== undefined) return { ...target, warehouseId }
  return typeof record.warehouse === "string"
    ? `There is no warehouse with the code '${record.warehouse}'.`
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

const over = <A>(sent: A | undefined, before: A): A => sent === undefined ? before : sent

/** The level after the record; the level itself when nothing of it is different. */
const levelAfter = (level: StockLevel, record: PlacedStock["record"], now: Date) => {
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
    // As an adjustment leaves it: below what is reserved only where somebody allowed it to lie there before.
    return { ...next, allowNegative: after < reserved, version: level.version + 1, updatedAt: now }
  })
}
