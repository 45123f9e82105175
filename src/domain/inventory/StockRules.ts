import { Data, Result, Schema } from "effect"
import { type EntityId, type OrderId, Uuid, WarehouseId } from "../platform/ids/Id.ts"

export interface StockDemand {
  readonly sellable: string
  readonly quantity: number
  /** Units of the sellable that may wait for stock, with those that wait already. Absent: none. */
  readonly backorders?: number | undefined
}

export const WarehouseStock = Schema.Struct({ warehouseId: WarehouseId, priority: Schema.Int, available: Schema.Int })
export type WarehouseStock = typeof WarehouseStock.Type

/** Stock of a sellable by active warehouse, and the units that orders wait for. */
export interface SellableStock {
  readonly levels: ReadonlyArray<WarehouseStock>
  readonly backordered: number
}

export interface StockLevels {
  readonly get: (sellable: string) => SellableStock | undefined
}

export const StockAllocation = Schema.Struct({ sellable: Uuid, warehouseId: WarehouseId, quantity: Schema.Int })
export type StockAllocation = typeof StockAllocation.Type

/** Units for an order; without a warehouse they wait for stock. */
export const HeldUnits = Schema.Struct({ ...StockAllocation.fields, warehouseId: Schema.NullOr(WarehouseId) })
export type HeldUnits = typeof HeldUnits.Type

export const isAllocated = (units: HeldUnits): units is StockAllocation => units.warehouseId !== null

/** The units that wait, by sellable. */
export const waitingUnits = (units: ReadonlyArray<HeldUnits>): ReadonlyMap<string, number> =>
  unitsBySellable(units.filter(({ warehouseId }) => warehouseId === null))

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
  readonly backorders: number
}

export class UnitsShort extends Data.TaggedError("UnitsShort")<Omit<StockShort, "sellable">> {}

/** Every write increases `version`; null: never stocked. */
export interface StockSnapshot extends SellableStock {
  readonly sellable: string
  readonly version: number | null
}

export interface ReservationLine {
  readonly sellable: string
  readonly entityId: EntityId
  readonly warehouseId: WarehouseId | null
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

const availableOf = (stock: SellableStock | undefined): number =>
  (stock?.levels ?? []).reduce((units, level) => units + Math.max(0, level.available), 0)

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
 * Allocates by warehouse priority, then id, split if one does not suffice (contract 3.6); what is not there waits, where
 * the demand allows it (contract-commerce §1). All or nothing. Lines of one sellable count together; a quantity that is
 * not a positive integer is refused like a shortage.
 */
export const allocateStock = (
  lines: ReadonlyArray<StockDemand>,
  stock: StockLevels
): Result.Result<ReadonlyArray<HeldUnits>, StockShort> => {
  const invalid = lines.find((line) => !isQuantity(line))
  if (invalid !== undefined) {
    const { quantity: requested, sellable } = invalid
    return Result.fail({ sellable, available: availableOf(stock.get(sellable)), requested })
  }
  const mayWait = new Map(lines.map(({ backorders = 0, sellable }) => [sellable, backorders]))
  const allocations: Array<HeldUnits> = []
  for (const [sellable, requested] of demandBySellable(lines)) {
    const { backordered = 0, levels = [] } = stock.get(sellable) ?? {}
    const there = availableOf({ backordered, levels })
    const available = there + Math.max(0, (mayWait.get(sellable) ?? 0) - backordered)
    if (requested > available) return Result.fail({ sellable, available, requested })
    allocations.push(...take(sellable, requested, levels))
    if (requested > there) allocations.push({ sellable, warehouseId: null, quantity: requested - there })
  }
  return Result.succeed(allocations)
}

export const afterAllocations = (
  stock: StockLevels,
  allocations: ReadonlyArray<HeldUnits>
): ReadonlyMap<string, SellableStock> => {
  const next = new Map<string, SellableStock>()
  for (const { quantity, sellable, warehouseId } of allocations) {
    const { backordered, levels } = next.get(sellable) ?? stock.get(sellable) ?? { backordered: 0, levels: [] }
    next.set(sellable, {
      backordered: warehouseId === null ? backordered + quantity : backordered,
      levels: levels.map((level) =>
        level.warehouseId === warehouseId ? { ...level, available: level.available - quantity } : level
      )
    })
  }
  return next
}

const levelsIn = (stock: SellableStock | undefined, warehouseId: WarehouseId): SellableStock | undefined =>
  stock && { ...stock, levels: stock.levels.filter((level) => level.warehouseId === warehouseId) }

/** Takes stock of one warehouse; then nothing waits, because other warehouses may have it. */
const allocateWithin = (lines: ReadonlyArray<StockDemand>, stock: StockLevels, warehouseId: WarehouseId) =>
  allocateStock(
    lines.map((line) => ({ ...line, backorders: 0 })),
    { get: (sellable) => levelsIn(stock.get(sellable), warehouseId) }
  )

export interface StockDemands {
  readonly lines: ReadonlyArray<StockDemand>
  readonly warehouseId?: WarehouseId | undefined
}

/** Serves checkouts in order of arrival; a refused one takes nothing (contract 3.6). */
export const allocateInTurn = (
  requests: ReadonlyArray<StockDemands>,
  stock: StockLevels
): ReadonlyArray<Result.Result<ReadonlyArray<HeldUnits>, StockShort>> => {
  const changed = new Map<string, SellableStock>()
  const open: StockLevels = { get: (sellable) => changed.get(sellable) ?? stock.get(sellable) }
  return requests.map(({ lines, warehouseId }) => {
    const outcome = warehouseId === undefined
      ? allocateStock(lines, open)
      : allocateWithin(lines, open, warehouseId)
    if (Result.isSuccess(outcome)) {
      for (const [sellable, left] of afterAllocations(open, outcome.success)) changed.set(sellable, left)
    }
    return outcome
  })
}
