import { Data, Result, Schema } from "effect"
import { type EntityId, type OrderId, Uuid, WarehouseId } from "../platform/ids/Id.ts"

export interface StockDemand {
  readonly sellable: string
  readonly quantity: number
}

export const WarehouseStock = Schema.Struct({ warehouseId: WarehouseId, priority: Schema.Int, available: Schema.Int })
export type WarehouseStock = typeof WarehouseStock.Type

export interface StockLevels {
  readonly get: (sellable: string) => ReadonlyArray<WarehouseStock> | undefined
}

export const StockAllocation = Schema.Struct({ sellable: Uuid, warehouseId: WarehouseId, quantity: Schema.Int })
export type StockAllocation = typeof StockAllocation.Type

export interface StockShort {
  readonly sellable: string
  readonly available: number
  readonly requested: number
}

export interface HoldChange {
  readonly orderId: OrderId
  readonly entityId: EntityId
  readonly sellable: string
  readonly units: number
}

export class UnitsShort extends Data.TaggedError("UnitsShort")<Omit<StockShort, "sellable">> {}

/** Stock by active warehouse. Every write increases `version`; null: never stocked. */
export interface StockSnapshot {
  readonly sellable: string
  readonly version: number | null
  readonly levels: ReadonlyArray<WarehouseStock>
}

export interface ReservationLine {
  readonly sellable: string
  readonly entityId: EntityId
  readonly warehouseId: WarehouseId
  readonly quantity: number
}

export interface Reservation {
  readonly holder: string
  readonly ttlSeconds: number
  readonly pricing: string
  readonly lines: ReadonlyArray<ReservationLine>
}

/** Only `held` and `sold` reserve units. */
export type HoldState = "held" | "sold" | "released" | "expired" | "fulfilled"

export interface PinnedHold {
  readonly holder: string
  readonly state: HoldState
  readonly pricing: string
}

export interface ReservationOutcome {
  readonly stale: ReadonlyArray<string>
  readonly fresh: ReadonlySet<string>
  readonly existing: ReadonlyArray<PinnedHold>
}

export const manualHolder = (orderId: string): string => `manual:${orderId}`

const demandBySellable = (lines: ReadonlyArray<StockDemand>): ReadonlyMap<string, number> => {
  const demand = new Map<string, number>()
  for (const { quantity, sellable } of lines) demand.set(sellable, (demand.get(sellable) ?? 0) + quantity)
  return demand
}

export const unitsBySellable = (lines: ReadonlyArray<StockDemand>): ReadonlyMap<string, number> =>
  demandBySellable(lines.map((line) => ({ ...line, sellable: line.sellable.toLowerCase() })))

const isQuantity = ({ quantity }: StockDemand): boolean => Number.isSafeInteger(quantity) && quantity > 0

const availableOf = (sellable: string, levels: StockLevels): number =>
  (levels.get(sellable) ?? []).reduce((units, level) => units + Math.max(0, level.available), 0)

const byWarehouse = (left: WarehouseStock, right: WarehouseStock): number =>
  left.priority - right.priority || (left.warehouseId < right.warehouseId ? -1 : 1)

const take = (
  sellable: string,
  requested: number,
  levels: ReadonlyArray<WarehouseStock>
): ReadonlyArray<StockAllocation> => {
  let open = requested
  return [...levels].sort(byWarehouse).flatMap(({ available, warehouseId }) => {
    const quantity = Math.min(open, Math.max(0, available))
    open -= quantity
    return quantity > 0 ? [{ sellable, warehouseId, quantity }] : []
  })
}

/**
 * Allocates by warehouse priority, then id, split if one does not suffice (contract 3.6). All or nothing. Lines of one
 * sellable count together; a quantity that is not a positive integer is refused like a shortage.
 */
export const allocateStock = (
  lines: ReadonlyArray<StockDemand>,
  levels: StockLevels
): Result.Result<ReadonlyArray<StockAllocation>, StockShort> => {
  const invalid = lines.find((line) => !isQuantity(line))
  if (invalid !== undefined) {
    const { quantity: requested, sellable } = invalid
    return Result.fail({ sellable, available: availableOf(sellable, levels), requested })
  }
  const allocations: Array<StockAllocation> = []
  for (const [sellable, requested] of demandBySellable(lines)) {
    const available = availableOf(sellable, levels)
    if (requested > available) return Result.fail({ sellable, available, requested })
    allocations.push(...take(sellable, requested, levels.get(sellable) ?? []))
  }
  return Result.succeed(allocations)
}

export const afterAllocations = (
  levels: StockLevels,
  allocations: ReadonlyArray<StockAllocation>
): ReadonlyMap<string, ReadonlyArray<WarehouseStock>> => {
  const next = new Map<string, ReadonlyArray<WarehouseStock>>()
  for (const { quantity, sellable, warehouseId } of allocations) {
    const here = next.get(sellable) ?? levels.get(sellable) ?? []
    next.set(
      sellable,
      here.map((level) =>
        level.warehouseId === warehouseId ? { ...level, available: level.available - quantity } : level
      )
    )
  }
  return next
}

const within = (levels: StockLevels, warehouseId: WarehouseId | undefined): StockLevels =>
  warehouseId === undefined
    ? levels
    : { get: (sellable) => levels.get(sellable)?.filter((level) => level.warehouseId === warehouseId) }

export interface StockDemands {
  readonly lines: ReadonlyArray<StockDemand>
  readonly warehouseId?: WarehouseId | undefined
}

/** Serves checkouts in order of arrival; a refused one takes nothing (contract 3.6). */
export const allocateInTurn = (
  requests: ReadonlyArray<StockDemands>,
  levels: StockLevels
): ReadonlyArray<Result.Result<ReadonlyArray<StockAllocation>, StockShort>> => {
  const changed = new Map<string, ReadonlyArray<WarehouseStock>>()
  const open: StockLevels = { get: (sellable) => changed.get(sellable) ?? levels.get(sellable) }
  return requests.map(({ lines, warehouseId }) => {
    const outcome = allocateStock(lines, within(open, warehouseId))
    if (Result.isSuccess(outcome)) {
      for (const [sellable, left] of afterAllocations(open, outcome.success)) changed.set(sellable, left)
    }
    return outcome
  })
}
