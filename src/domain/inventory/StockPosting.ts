import { BigDecimal, Result, Schema } from "effect"
import { type Issue, withPath } from "../platform/errors/ApiErrors.ts"
import { EntityId, newId, Uuid, VariantId, WarehouseId } from "../platform/ids/Id.ts"
import { Amount } from "../platform/money/Money.ts"
import { maybe } from "../platform/text/Fields.ts"
import { everyIssue, issuesOf } from "../platform/text/Issues.ts"
import { FreeText, Text } from "../platform/text/Storable.ts"
import { adjustStock } from "./StockAdjustment.ts"
import { maxUnits, type StockLevel } from "./StockLevel.ts"

/** A document that moves stock, for example `{ type: "grn", id }`. It posts once in an organization. */
export const PostingReference = Schema.Struct({ type: Text, id: Text })
export type PostingReference = typeof PostingReference.Type

const signedUnits = Schema.optional(Schema.Int.check(Schema.isBetween({ minimum: -maxUnits, maximum: maxUnits })))

const Decimal = Schema.String.check(
  Schema.isPattern(/^\d{1,15}(\.\d{1,10})?$/, { expected: "a decimal number, such as 12.5" })
)

const movementTypes = ["receipt", "sale", "return", "adjustment", "transfer", "fulfillment"] as const

/** A document's change of the stock of a variant (else an entity) in one warehouse. Units; at least one of them. */
export const StockPostingLine = Schema.Struct({
  entityId: EntityId,
  variantId: maybe(VariantId),
  warehouseId: WarehouseId,
  /** Units that come in (above 0) or leave. */
  delta: signedUnits,
  /** Ordered units: above 0 when ordered, below 0 when received or cancelled. */
  incoming: signedUnits,
  /** Units on the way to this warehouse: above 0 when sent, below 0 when they arrive or are lost. */
  inTransit: signedUnits,
  /**
   * Minor units; a text may have ten decimals. `issued`: the cost of the same goods that earlier lines took out, else
   * the cost of all that they took out, shared by the units of `issued` lines (products made of materials).
   */
  unitCost: Schema.optional(Schema.Union([Amount, Schema.Literal("issued"), Decimal])),
  /** Average the cost with that of the units on hand, instead of replacing it. */
  average: Schema.optional(Schema.Boolean),
  type: Schema.optional(Schema.Literals(movementTypes)),
  /** Units leave even below zero or below what is reserved. */
  allowNegative: Schema.optional(Schema.Boolean),
  reason: maybe(FreeText.check(Schema.isMaxLength(2000)))
})
export type StockPostingLine = typeof StockPostingLine.Type

const Sent = Schema.Struct({ reference: PostingReference, lines: Schema.Array(StockPostingLine) })

export type CompleteLine = ReturnType<typeof completeLine>

const completeLine = (line: StockPostingLine) => {
  const { allowNegative = false, average = false, delta = 0, inTransit = 0, incoming = 0, reason = null } = line
  const { type = delta > 0 ? "receipt" : "adjustment", unitCost = null } = line
  const { entityId, variantId = null, warehouseId } = line
  return {
    entityId,
    variantId,
    warehouseId,
    delta,
    incoming,
    inTransit,
    unitCost,
    average,
    type,
    allowNegative,
    reason
  }
}

export interface StockPosting {
  readonly reference: PostingReference
  readonly lines: ReadonlyArray<CompleteLine>
}

const decode = Schema.decodeUnknownResult(Sent, everyIssue)

export const postingOf = (sent: typeof Sent.Type): Result.Result<StockPosting, ReadonlyArray<Issue>> =>
  Result.mapBoth(decode(sent), {
    onSuccess: ({ lines, reference }) => ({ reference, lines: lines.map(completeLine) }),
    onFailure: issuesOf
  })

/** The movement (null when no goods moved), units on hand and not reserved after it, and the cost of one unit. */
export const PostedLine = Schema.Struct({
  movementId: Schema.NullOr(Uuid),
  quantityOnHand: Schema.Int,
  /** Below 0 where units are gone that orders were promised. Absent: not counted, or posted by an earlier version. */
  available: Schema.optionalKey(Schema.Int),
  unitCost: Schema.NullOr(Schema.String)
})
export type PostedLine = typeof PostedLine.Type

type Place = Pick<StockLevel, "entityId" | "variantId" | "warehouseId">

export const sellableOf = ({ entityId, variantId }: Pick<StockPostingLine, "entityId" | "variantId">): string =>
  variantId ?? entityId

export const placeOf = (place: Place): string => `${sellableOf(place)} ${place.warehouseId}`

export interface PostedMovement extends Place {
  readonly id: string
  readonly type: typeof movementTypes[number]
  readonly quantity: number
  readonly unitCost: string | null
  readonly reason: string | null
}

export interface DecidedPosting {
  readonly levels: ReadonlyArray<StockLevel>
  readonly movements: ReadonlyArray<PostedMovement>
  readonly posted: ReadonlyArray<PostedLine>
}

const issue = (path: string, message: string, code = "invalid"): Issue => ({ path, message, code })

const faultsOf = ({ average, delta, inTransit, incoming, unitCost }: CompleteLine) => [
  ...delta === 0 && incoming === 0 && inTransit === 0
    ? [issue("delta", "delta, incoming or inTransit is required.", "required")]
    : [],
  ...unitCost !== null && delta <= 0 ? [issue("unitCost", "must be null for units that do not come in.")] : [],
  ...average && unitCost === null ? [issue("unitCost", "is required with average.", "required")] : []
]

const underway = (path: string, before: number, change: number): Result.Result<number, ReadonlyArray<Issue>> => {
  const after = before + change
  if (after < 0) {
    return Result.fail([
      issue(path, `must not go below 0: it is ${before} and would be ${after}.`, "insufficient_stock")
    ])
  }
  return after > maxUnits
    ? Result.fail([issue(path, `must not take the level beyond ${maxUnits} units.`, "too_large")])
    : Result.succeed(after)
}

const onHandAfter = (
  { quantityOnHand: onHand, quantityReserved: reserved }: StockLevel,
  { allowNegative, delta }: CompleteLine
) => {
  if (delta === 0) return Result.succeed(onHand)
  return Result.mapBoth(adjustStock({ onHand, reserved, allowNegative }, { adjustment: delta }), {
    onSuccess: ({ after }) => after,
    onFailure: ({ error }) => error.details.issues.map((found) => withPath(found, "delta"))
  })
}

const unitsOf = (units: number) => BigDecimal.fromBigInt(BigInt(units))
const valueOf = (units: number, cost: string) => BigDecimal.multiply(unitsOf(units), BigDecimal.fromStringUnsafe(cost))

/** Rounded half up to ten decimals of a minor unit: an average is off by at most half of the tenth decimal per unit. */
const perUnit = (value: BigDecimal.BigDecimal, units: number): string =>
  BigDecimal.format(BigDecimal.round(BigDecimal.divideUnsafe(value, unitsOf(units)), { scale: 10 }))

/** Units without a cost, and those that left before they came in (below zero), take the cost of the receipt. */
const averageOf = ({ averageCost, quantityOnHand: onHand }: StockLevel, units: number, cost: string): string =>
  averageCost === null || onHand <= 0
    ? cost
    : perUnit(BigDecimal.sum(valueOf(onHand, averageCost), valueOf(units, cost)), onHand + units)

class IssuedGoods {
  readonly #issued: Array<{ readonly sellable: string; readonly units: number; readonly cost: string | null }> = []
  readonly #products: number

  constructor(lines: ReadonlyArray<CompleteLine>) {
    const taken = new Set(lines.filter(({ delta }) => delta < 0).map(sellableOf))
    const products = lines.filter((line) => line.unitCost === "issued" && !taken.has(sellableOf(line)))
    this.#products = products.reduce((units, { delta }) => units + delta, 0)
  }

  add(line: CompleteLine, units: number, cost: string | null): void {
    this.#issued.push({ sellable: sellableOf(line), units, cost })
  }

  /** Null when no cost of what left is known; a part without a known cost counts as 0. */
  costFor(line: CompleteLine): Result.Result<string | null, ReadonlyArray<Issue>> {
    const same = this.#issued.filter(({ sellable }) => sellable === sellableOf(line))
    const source = same.length > 0 ? same : this.#issued
    if (source.length === 0) {
      return Result.fail([issue("unitCost", "must only be issued after a line that takes goods out.")])
    }
    const known = source.flatMap(({ cost, units }) => cost === null ? [] : [valueOf(units, cost)])
    if (known.length === 0) return Result.succeed(null)
    const units = same.length > 0 ? same.reduce((sum, issued) => sum + issued.units, 0) : this.#products
    return Result.succeed(perUnit(BigDecimal.sumAll(known), units))
  }
}

/** Goods leave at the cost of the level. */
const costsOf = (level: StockLevel, line: CompleteLine, issued: IssuedGoods) =>
  Result.gen(function*() {
    const { delta, unitCost } = line
    const before = level.averageCost
    if (delta === 0) return { unitCost: null, averageCost: before }
    if (delta < 0) issued.add(line, -delta, before)
    if (unitCost === null) return { unitCost: before, averageCost: before }
    const cost = unitCost === "issued" ? yield* issued.costFor(line) : perUnit(valueOf(1, String(unitCost)), 1)
    if (cost === null) return { unitCost: before, averageCost: before }
    return { unitCost: cost, averageCost: line.average ? averageOf(level, delta, cost) : cost }
  })

const postLine = (level: StockLevel, line: CompleteLine, issued: IssuedGoods) =>
  Result.gen(function*() {
    const faults = faultsOf(line)
    if (faults.length > 0) return yield* Result.fail(faults)
    const onHand = yield* onHandAfter(level, line)
    const incoming = yield* underway("incoming", level.quantityIncoming, line.incoming)
    const inTransit = yield* underway("inTransit", level.quantityInTransit, line.inTransit)
    const { averageCost, unitCost } = yield* costsOf(level, line, issued)
    const { delta, reason, type } = line
    const after: StockLevel = {
      ...level,
      quantityOnHand: onHand,
      quantityIncoming: incoming,
      quantityInTransit: inTransit,
      available: onHand - level.quantityReserved,
      averageCost,
      allowNegative: onHand < level.quantityReserved,
      lastRestockedAt: type === "receipt" && delta > 0 ? level.updatedAt : level.lastRestockedAt
    }
    const { entityId, variantId, warehouseId } = level
    const place = { entityId, variantId, warehouseId }
    const movement: PostedMovement = { ...place, id: newId(), type, quantity: delta, unitCost, reason }
    return { after, movement }
  })

const settled = (level: StockLevel): StockLevel => ({
  ...level,
  version: level.version + 1,
  unitCost: level.averageCost === null
    ? level.unitCost
    : BigDecimal.toNumberUnsafe(BigDecimal.round(BigDecimal.fromStringUnsafe(level.averageCost), { scale: 0 }))
})

/**
 * Posts lines in their order, all or none: the failure names every line that cannot be posted. A line without a level
 * is about goods that are not counted: it moves nothing, and its units have no known cost.
 */
export const decidePosting = (
  lines: ReadonlyArray<CompleteLine>,
  levels: ReadonlyMap<string, StockLevel>
): Result.Result<DecidedPosting, ReadonlyArray<Issue>> => {
  const current = new Map(levels)
  const issued = new IssuedGoods(lines.filter((line) => levels.has(placeOf(line))))
  const issues: Array<Issue> = []
  const movements: Array<PostedMovement> = []
  const posted = lines.flatMap((line, index): ReadonlyArray<PostedLine> => {
    const place = placeOf(line)
    const level = current.get(place)
    if (level === undefined) {
      if (line.delta < 0) issued.add(line, -line.delta, null)
      return [{ movementId: null, quantityOnHand: 0, unitCost: null }]
    }
    const result = postLine(level, line, issued)
    if (Result.isFailure(result)) {
      issues.push(...result.failure.map((found) => withPath(found, `lines.${index}.${found.path}`)))
      return []
    }
    const { after, movement } = result.success
    current.set(place, after)
    if (movement.quantity !== 0) movements.push(movement)
    const movementId = movement.quantity === 0 ? null : movement.id
    const { available, quantityOnHand } = after
    return [{ movementId, quantityOnHand, available, unitCost: movement.unitCost }]
  })
  return issues.length > 0
    ? Result.fail(issues)
    : Result.succeed({ levels: [...current.values()].map(settled), movements, posted })
}
