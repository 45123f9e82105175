import { Result, Schema } from "effect"
import { invalid } from "../platform/errors/ErrorKinds.ts"
import { about } from "../platform/hints/Hints.ts"
import { EntityId, VariantId, WarehouseId } from "../platform/ids/Id.ts"
import { maybe } from "../platform/text/Fields.ts"
import { FreeText, ShortText, Text } from "../platform/text/Storable.ts"
import { levelSettings, maxUnits } from "./StockLevel.ts"

const AdjustmentType = Schema.Literals([
  "restock",
  "receipt",
  "return",
  "adjustment",
  "sale",
  "damage",
  "shrinkage",
  "set"
])

const AdjustmentMode = Schema.Literals(["add", "remove", "set"])

/**
 * One of three forms (spec 4, contract 6): `type` with `quantity`; signed `adjustment`; or `mode` with `amount`.
 * Without a warehouse: the active one with the lowest priority number. Units.
 */
export const AdjustStock = Schema.Struct({
  entityId: EntityId,
  variantId: maybe(VariantId),
  warehouseId: maybe(WarehouseId),
  type: Schema.optional(AdjustmentType).pipe(
    about("Reason of the movement, which decides whether `quantity` comes in or goes out; set: it is the new count.")
  ),
  quantity: Schema.optional(Schema.Int).pipe(about("Units, with `type`.")),
  adjustment: Schema.optional(Schema.Int).pipe(about("Signed change of units.")),
  mode: Schema.optional(AdjustmentMode).pipe(about("Use of `amount`: added, taken off, or the new count.")),
  amount: Schema.optional(Schema.Int).pipe(about("Units, with `mode`.")),
  reason: maybe(FreeText.check(Schema.isMaxLength(2000))),
  performedBy: maybe(ShortText).pipe(about("Name for the movement; default: the caller.")),
  referenceType: maybe(ShortText).pipe(about("Kind of record that is the reason.")),
  referenceId: maybe(ShortText).pipe(about("Id of the record that is the reason.")),
  ...levelSettings
}).annotate({ identifier: "InventoryAdjustment" })
export type AdjustStock = typeof AdjustStock.Type

/** Without a warehouse: any, by priority. Units (contract 6). */
export const ManualStock = Schema.Struct({
  entityId: EntityId,
  variantId: maybe(VariantId),
  warehouseId: maybe(WarehouseId),
  quantity: Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: maxUnits })).pipe(about("Units, with `type`.")),
  orderId: Text,
  performedBy: maybe(Text).pipe(about("Name for the movement; default: the caller."))
}).annotate({ identifier: "InventoryReservation" })
export type ManualStock = typeof ManualStock.Type

interface AdjustmentRule {
  readonly effect: "add" | "remove" | "set"
  readonly quantity: "positive" | "notNegative" | "notZero"
  readonly clamps?: boolean
  readonly restocks?: boolean
  readonly movement: "receipt" | "sale" | "return" | "adjustment"
}

export const adjustmentTypes: { readonly [T in typeof AdjustmentType.Type]: AdjustmentRule } = {
  restock: { effect: "add", quantity: "positive", movement: "receipt", restocks: true },
  receipt: { effect: "add", quantity: "positive", movement: "receipt", restocks: true },
  return: { effect: "add", quantity: "positive", movement: "return" },
  adjustment: { effect: "add", quantity: "notZero", movement: "adjustment" },
  sale: { effect: "remove", quantity: "positive", movement: "sale" },
  damage: { effect: "remove", quantity: "positive", movement: "adjustment" },
  shrinkage: { effect: "remove", quantity: "positive", movement: "adjustment" },
  set: { effect: "set", quantity: "notNegative", movement: "adjustment" }
}

/** Only mode=remove accepts less than requested. */
const adjustmentModes: { readonly [M in typeof AdjustmentMode.Type]: AdjustmentRule } = {
  add: { effect: "add", quantity: "notNegative", movement: "adjustment" },
  remove: { effect: "remove", quantity: "notNegative", movement: "adjustment", clamps: true },
  set: { effect: "set", quantity: "notNegative", movement: "adjustment" }
}

export type Adjustment =
  | { readonly adjustment: number }
  | { readonly type: typeof AdjustmentType.Type; readonly quantity: number }
  | { readonly mode: typeof AdjustmentMode.Type; readonly amount: number }

export class AdjustmentAmbiguous extends invalid(
  "StockChangeForm",
  "",
  "The request must have one of type with quantity, adjustment, or mode with amount."
) {}
export class AdjustmentIncomplete
  extends invalid("AdjustmentPart", (part: string) => part, "is required.", "required")
{}
export class QuantityRefused extends invalid(
  "AdjustmentQuantity",
  (path: string, _range: string) => path,
  (_path: string, range: string) => `must be a whole number ${range}.`,
  "out_of_range"
) {}
export class LevelExceeded
  extends invalid("LevelSize", (path: string) => path, `must not take the level beyond ${maxUnits} units.`, "too_large")
{}
export class BelowReserved extends invalid(
  "BelowReserved",
  (path: string, _left: number, _reserved: number) => path,
  (_path: string, left: number, reserved: number) =>
    `must leave the ${reserved} units that are reserved, and would leave ${left}.`,
  "insufficient_stock"
) {}

export const adjustmentOf = (
  { adjustment, amount, mode, quantity, type }: AdjustStock
): Result.Result<Adjustment, AdjustmentAmbiguous | AdjustmentIncomplete | QuantityRefused> => {
  const forms = [type ?? quantity, adjustment, mode ?? amount].filter((form) => form !== undefined)
  if (forms.length > 1) return Result.fail(new AdjustmentAmbiguous())
  if (type !== undefined && quantity !== undefined) return Result.succeed({ type, quantity })
  if (mode !== undefined && amount !== undefined) return Result.succeed({ mode, amount })
  if (adjustment === 0) return Result.fail(new QuantityRefused("adjustment", quantities.notZero.words))
  if (adjustment !== undefined) return Result.succeed({ adjustment })
  const ofMode = mode !== undefined ? "amount" : amount !== undefined ? "mode" : "type"
  return Result.fail(new AdjustmentIncomplete(type !== undefined ? "quantity" : ofMode))
}

/** In units. With allowNegative it can fall below what is reserved. */
export interface StockState {
  readonly onHand: number
  readonly reserved: number
  readonly allowNegative: boolean
}

export interface ResultingStock {
  readonly before: number
  readonly after: number
  readonly delta: number
  readonly restocks: boolean
  readonly movement: AdjustmentRule["movement"]
}

const quantities = {
  positive: { fits: (quantity: number) => quantity > 0, words: "above 0" },
  notNegative: { fits: (quantity: number) => quantity >= 0, words: "from 0 up" },
  notZero: { fits: (quantity: number) => quantity !== 0, words: "other than 0" }
}

const floorOf = ({ allowNegative, onHand, reserved }: StockState): number =>
  Math.min(onHand, allowNegative ? 0 : Math.max(0, reserved))

const askedFor = (adjustment: Adjustment): readonly [AdjustmentRule, number, "adjustment" | "quantity" | "amount"] => {
  if ("adjustment" in adjustment) return [adjustmentTypes.adjustment, adjustment.adjustment, "adjustment"]
  return "type" in adjustment
    ? [adjustmentTypes[adjustment.type], adjustment.quantity, "quantity"]
    : [adjustmentModes[adjustment.mode], adjustment.amount, "amount"]
}

/**
 * The level after an adjustment (contract 6). 422 below zero, or below what is reserved, unless negative stock is
 * allowed; mode=remove takes what is available. Reservations never refuse an increase.
 */
export const adjustStock = (
  state: StockState,
  adjustment: Adjustment
): Result.Result<ResultingStock, QuantityRefused | LevelExceeded | BelowReserved> => {
  const { allowNegative, onHand: before, reserved } = state
  const [{ clamps, effect, movement, quantity: range, restocks = false }, quantity, path] = askedFor(adjustment)
  const { fits, words } = quantities[range]
  if (!Number.isSafeInteger(quantity) || !fits(quantity)) return Result.fail(new QuantityRefused(path, words))
  const wanted = effect === "set" ? quantity : effect === "add" ? before + quantity : before - quantity
  const after = clamps === true ? Math.max(wanted, floorOf(state)) : wanted
  if (Math.max(Math.abs(after), Math.abs(after - before)) > maxUnits) return Result.fail(new LevelExceeded(path))
  if (after < before && after < Math.max(0, reserved) && !allowNegative) {
    return Result.fail(new BelowReserved(path, after, reserved))
  }
  return Result.succeed({ before, after, delta: after - before, restocks, movement })
}
