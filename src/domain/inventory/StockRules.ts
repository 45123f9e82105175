import { Result, Schema } from "effect"
import { ValidationFailed } from "../errors/ApiErrors.ts"

/** The types of adjustment a request may name (contract 6). */
export const AdjustmentType = Schema.Literals([
  "restock",
  "receipt",
  "return",
  "adjustment",
  "sale",
  "damage",
  "shrinkage",
  "set"
])
/** See the schema of the same name. */
export type AdjustmentType = typeof AdjustmentType.Type

/** The other form of an adjustment: a mode with an amount from 0 up (contract 6). */
export const AdjustmentMode = Schema.Literals(["add", "remove", "set"])
/** See the schema of the same name. */
export type AdjustmentMode = typeof AdjustmentMode.Type

/** The types of stock movement an adjustment is recorded under. */
export type AdjustmentMovement = "receipt" | "sale" | "return" | "adjustment"

interface AdjustmentRule {
  readonly effect: "add" | "remove" | "set"
  readonly quantity: "positive" | "notNegative" | "notZero"
  /** Whether an impossible removal takes what is available instead of being refused. */
  readonly clamps: boolean
  readonly restocks: boolean
  readonly movement: AdjustmentMovement
}

const rule = (
  effect: AdjustmentRule["effect"],
  quantity: AdjustmentRule["quantity"],
  movement: AdjustmentMovement,
  also: { readonly clamps?: boolean; readonly restocks?: boolean } = {}
): AdjustmentRule => ({ effect, quantity, movement, clamps: also.clamps ?? false, restocks: also.restocks ?? false })

/** What each type of adjustment does to the quantity on hand (contract 6, table of types). */
export const adjustmentTypes: { readonly [T in AdjustmentType]: AdjustmentRule } = {
  restock: rule("add", "positive", "receipt", { restocks: true }),
  receipt: rule("add", "positive", "receipt", { restocks: true }),
  return: rule("add", "positive", "return"),
  adjustment: rule("add", "notZero", "adjustment"),
  sale: rule("remove", "positive", "sale"),
  damage: rule("remove", "positive", "adjustment"),
  shrinkage: rule("remove", "positive", "adjustment"),
  set: rule("set", "notNegative", "adjustment")
}

/** The effect of each adjustment mode. Only mode=remove accepts less than requested and takes what is available. */
export const adjustmentModes: { readonly [M in AdjustmentMode]: AdjustmentRule } = {
  add: rule("add", "notNegative", "adjustment"),
  remove: rule("remove", "notNegative", "adjustment", { clamps: true }),
  set: rule("set", "notNegative", "adjustment")
}

/** A requested change: signed, by type, or by mode. Units. */
export type Adjustment =
  | { readonly adjustment: number }
  | { readonly type: AdjustmentType; readonly quantity: number }
  | { readonly mode: AdjustmentMode; readonly amount: number }

/** A level before the change, in units. With allowNegative it can fall below what is reserved. */
export interface StockState {
  readonly onHand: number
  readonly reserved: number
  readonly allowNegative: boolean
}

/** The change that results. `delta` is what really happened; `restocks`: the time of the last restock is now. */
export interface ResultingStock {
  readonly before: number
  readonly after: number
  readonly delta: number
  readonly restocks: boolean
  readonly movement: AdjustmentMovement
}

/** Maximum units of a level: the column is a 32-bit integer. */
export const maxUnits = 2_147_483_647

const quantityFits: { readonly [Q in AdjustmentRule["quantity"]]: (quantity: number) => boolean } = {
  positive: (quantity) => quantity > 0,
  notNegative: (quantity) => quantity >= 0,
  notZero: (quantity) => quantity !== 0
}

const quantityWords: { readonly [Q in AdjustmentRule["quantity"]]: string } = {
  positive: "above 0",
  notNegative: "from 0 up",
  notZero: "other than 0"
}

const floorOf = ({ allowNegative, onHand, reserved }: StockState): number =>
  Math.min(onHand, allowNegative ? 0 : Math.max(0, reserved))

const asked = ({ onHand }: StockState, effect: AdjustmentRule["effect"], quantity: number): number =>
  effect === "set" ? quantity : effect === "add" ? onHand + quantity : onHand - quantity

/** The rule of an adjustment, its units, and the request field that gives the quantity. */
const askedFor = (adjustment: Adjustment): readonly [AdjustmentRule, number, "adjustment" | "quantity" | "amount"] => {
  if ("adjustment" in adjustment) return [adjustmentTypes.adjustment, adjustment.adjustment, "adjustment"]
  return "type" in adjustment
    ? [adjustmentTypes[adjustment.type], adjustment.quantity, "quantity"]
    : [adjustmentModes[adjustment.mode], adjustment.amount, "amount"]
}

/**
 * The level after an adjustment (contract 6). A result below zero, or below what is reserved, is refused with 422
 * unless negative stock is allowed; mode=remove takes what is available instead and reports the actual change. An
 * increase is never refused because of reservations.
 */
export const adjustStock = (
  state: StockState,
  adjustment: Adjustment
): Result.Result<ResultingStock, ValidationFailed> => {
  const [rule, quantity, path] = askedFor(adjustment)
  if (!Number.isSafeInteger(quantity) || !quantityFits[rule.quantity](quantity)) {
    return Result.fail(ValidationFailed.of(path, `must be a whole number ${quantityWords[rule.quantity]}`))
  }
  const wanted = asked(state, rule.effect, quantity)
  const after = rule.clamps ? Math.max(wanted, floorOf(state)) : wanted
  // Of the change too: between two levels on either side of zero it can be larger than both.
  if (Math.max(Math.abs(after), Math.abs(after - state.onHand)) > maxUnits) {
    return Result.fail(ValidationFailed.of(path, "exceeds what a level can hold"))
  }
  if (after < state.onHand && after < Math.max(0, state.reserved) && !state.allowNegative) {
    const reason = `would leave ${after} on hand with ${state.reserved} reserved`
    return Result.fail(ValidationFailed.of(path, reason, "insufficient_stock"))
  }
  const { movement, restocks } = rule
  return Result.succeed({ before: state.onHand, after, delta: after - state.onHand, restocks, movement })
}

/** Requested units of a sellable (variant, else entity). */
export interface StockDemand {
  readonly sellable: string
  readonly quantity: number
}

/** What a warehouse has of a sellable: on hand minus reserved. */
export interface WarehouseStock {
  readonly warehouseId: string
  readonly priority: number
  readonly available: number
}

/** The stock of a sellable by warehouse, in any order; a Map is one. */
export interface StockLevels {
  readonly get: (sellable: string) => ReadonlyArray<WarehouseStock> | undefined
}

/** Units allocated from one warehouse. */
export interface StockAllocation {
  readonly sellable: string
  readonly warehouseId: string
  readonly quantity: number
}

/** The sellable that falls short, over all warehouses and all lines that want it. */
export interface StockShort {
  readonly sellable: string
  readonly available: number
  readonly requested: number
}

const demandBySellable = (lines: ReadonlyArray<StockDemand>): ReadonlyMap<string, number> => {
  const demand = new Map<string, number>()
  for (const { quantity, sellable } of lines) demand.set(sellable, (demand.get(sellable) ?? 0) + quantity)
  return demand
}

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
 * Allocates the units of one checkout: warehouses by priority, then id, split if one does not suffice (contract 3.6).
 * All or nothing: one short sellable refuses the checkout and is named. Lines of the same sellable count together; a
 * quantity that is not a positive integer is refused like a shortage.
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

/** The levels after allocations, for the sellables they affect; the given levels stay unchanged. */
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

/** Serves checkouts in order of arrival; a refused one takes nothing (contract 3.6). */
export const allocateInTurn = (
  requests: ReadonlyArray<ReadonlyArray<StockDemand>>,
  levels: StockLevels
): ReadonlyArray<Result.Result<ReadonlyArray<StockAllocation>, StockShort>> => {
  const changed = new Map<string, ReadonlyArray<WarehouseStock>>()
  const open: StockLevels = { get: (sellable) => changed.get(sellable) ?? levels.get(sellable) }
  return requests.map((lines) => {
    const outcome = allocateStock(lines, open)
    if (Result.isSuccess(outcome)) {
      for (const [sellable, left] of afterAllocations(open, outcome.success)) changed.set(sellable, left)
    }
    return outcome
  })
}
