import { Result, Schema } from "effect"
import {
  type Conflict,
  conflict,
  type CoreServices,
  EntityId,
  invalid,
  type OrderLineId,
  type ValidationFailed
} from "stoa/plugin"

export class NothingLeft
  extends conflict("NothingLeft", "Nothing of this sub-order is left that could be given back.")
{}
class MoreThanLeft extends invalid(
  "MoreThanLeft",
  "refundAmountCents",
  (most: number) => `refundAmountCents is more than the ${most} that can be given back.`
) {}

/** A line of a sub-order with what is left of it: units, and what they are worth together in minor units. */
export interface LeftLine {
  readonly lineItemId: OrderLineId
  readonly entityId: EntityId
  readonly quantity: number
  readonly amount: number
}

/** What of a sub-order can still be given back; `cap` is the most that its order can, minor units. */
export interface Left {
  readonly lines: ReadonlyArray<LeftLine>
  readonly cap: number
}

/** What the core's refund engine is asked for. */
export type Chosen = Parameters<CoreServices["refunds"]["request"]>[1]

type Choice = Result.Result<Chosen, Conflict | ValidationFailed>

type Units = Pick<LeftLine, "lineItemId" | "quantity">

const worthOf = ({ lines }: Left): number => lines.reduce((sum, { amount }) => sum + amount, 0)

/** Whether nothing of the sub-order is left that could be given back. */
export const isSpent = (left: Left): boolean => left.lines.length === 0 || (worthOf(left) > 0 && left.cap === 0)

const all = ({ lineItemId, quantity }: LeftLine): Units => ({ lineItemId, quantity })

/** Everything that is left of the sub-order; 409 when that is nothing. */
export const chooseAll = (left: Left): Choice => {
  const worth = worthOf(left)
  if (isSpent(left)) return Result.fail(new NothingLeft())
  // Amounts that were given back without naming lines leave less in the order than its lines are worth.
  const cut = worth > left.cap ? { amount: left.cap } : {}
  return Result.succeed({ lines: left.lines.map(all), ...cut })
}

/** Units of one line that are worth at least the amount: one more than the share says, because values are rounded. */
const unitsFor = ({ amount, lineItemId, quantity }: LeftLine, asked: number): Units => ({
  lineItemId,
  quantity: Math.min(quantity, Math.ceil(((asked + 1) * quantity) / amount))
})

/**
 * An amount, on as few lines as it takes: a refund that names none would be split over the lines of all vendors. The units
 * it is on count as given back. 422 for more than is left.
 */
export const choosePart = (left: Left, amount: number): Choice => {
  const most = Math.min(worthOf(left), left.cap)
  if (amount > most) return Result.fail(new MoreThanLeft(most))
  const dear = left.lines.filter((line) => line.amount > 0).toSorted((one, other) => other.amount - one.amount)
  const single = dear.findLast((line) => line.amount >= amount)
  if (single !== undefined) return Result.succeed({ lines: [unitsFor(single, amount)], amount })
  const taken: Array<Units> = []
  let open = amount
  for (const line of dear) {
    if (open > 0) taken.push(line.amount > open ? unitsFor(line, open) : all(line))
    open -= line.amount
  }
  return Result.succeed({ lines: taken, amount })
}

/** Units of an entity. */
export const EntityUnits = Schema.Struct({ entityId: EntityId, quantity: Schema.Int })
export type EntityUnits = typeof EntityUnits.Type

/** Units by entity; an entity that is named twice counts for both. */
export const countUnits = (units: ReadonlyArray<EntityUnits>): Map<EntityId, number> => {
  const sum = new Map<EntityId, number>()
  for (const { entityId, quantity } of units) sum.set(entityId, (sum.get(entityId) ?? 0) + quantity)
  return sum
}

/** Units of entities as units of lines: variants of one entity are lines of their own, and are taken in their order. */
export const unitsOf = (lines: ReadonlyArray<Units & EntityUnits>, wanted: ReadonlyArray<EntityUnits>) => {
  const open = countUnits(wanted)
  return lines.flatMap(({ entityId, lineItemId, quantity }) => {
    const units = Math.min(quantity, open.get(entityId) ?? 0)
    open.set(entityId, (open.get(entityId) ?? 0) - units)
    return units === 0 ? [] : [{ lineItemId, quantity: units }]
  })
}

/**
 * Units that came back, for what they are worth or an amount that was agreed; of units that were given back otherwise
 * meanwhile only the others. They go back into stock. 409 when none are left.
 */
export const chooseUnits = (left: Left, wanted: ReadonlyArray<EntityUnits>, agreed: number | null): Choice => {
  const units = unitsOf(left.lines, wanted)
  if (units.length === 0) return Result.fail(new NothingLeft())
  return Result.succeed({ lines: units, restock: true, ...(agreed === null ? {} : { amount: agreed }) })
}

/** What the lines that hold these units have left, minor units: more than that is never worth agreeing on. */
export const maxFor = (left: Left, wanted: ReadonlyArray<EntityUnits>): number => {
  const lines = new Set(unitsOf(left.lines, wanted).map(({ lineItemId }) => lineItemId))
  return Math.min(left.cap, worthOf({ ...left, lines: left.lines.filter((line) => lines.has(line.lineItemId)) }))
}
