import { Result } from "effect"
import { type EntityId, invalid, InvalidTransition, type RowOf, type ValidationFailed } from "stoa/plugin"
import type { EntityUnits } from "../refunds/RefundChoice.ts"
import type { returns } from "./ReturnTables.ts"

class NotDeliveredYet
  extends invalid("NotDeliveredYet", "subOrderId", "is not delivered: it can be returned once it is")
{}
class WindowOver
  extends invalid("WindowOver", "subOrderId", (days: number) => `was delivered more than ${days} days ago`)
{}
class NothingToReturn extends invalid("NothingToReturn", "subOrderId", "has nothing left that could be returned") {}
class NotReturnable extends invalid(
  "NotReturnable",
  "lineItems",
  (entityId: EntityId) => `${entityId} is not of this sub-order, or was given back`
) {}
class MoreThanReturnable extends invalid(
  "MoreThanReturnable",
  "lineItems",
  (entityId: EntityId, most: number) => `${entityId}: only ${most} units can be returned`
) {}

export type ReturnStatus = RowOf<typeof returns>["status"]

/** The one state from which a return gets where (contract, plugins §1.2). `vendor_rejected` and `refunded` are ends. */
const source = {
  vendor_approved: "requested",
  vendor_rejected: "requested",
  shipped_back: "vendor_approved",
  received: "shipped_back",
  refunded: "received"
} as const

/** 422 INVALID_TRANSITION for a step that the machine does not have. */
export const mayBecome = (from: ReturnStatus, to: keyof typeof source): Result.Result<void, InvalidTransition> =>
  source[to] === from
    ? Result.succeed(undefined)
    : Result.fail(InvalidTransition.of(`A return that is ${from} cannot become ${to}.`))

const dayMs = 86_400_000

/** 422 unless the sub-order was delivered, and not longer ago than the window says. */
export const mayBeReturned = (
  { deliveredAt, status }: { readonly status: string; readonly deliveredAt: Date | null },
  windowDays: number,
  now: Date
): Result.Result<void, ValidationFailed> => {
  if (status !== "delivered" || deliveredAt === null) {
    return Result.fail(new NotDeliveredYet())
  }
  return now.getTime() - deliveredAt.getTime() <= windowDays * dayMs
    ? Result.succeed(undefined)
    : Result.fail(new WindowOver(windowDays))
}

/** Units by entity; an entity that is named twice counts for both. */
const counted = (units: ReadonlyArray<EntityUnits>): Map<EntityId, number> => {
  const sum = new Map<EntityId, number>()
  for (const { entityId, quantity } of units) sum.set(entityId, (sum.get(entityId) ?? 0) + quantity)
  return sum
}

/**
 * What can be sent back: units of the sub-order that were not given back yet, without those that other returns ask for.
 */
export const returnable = (
  left: ReadonlyArray<EntityUnits>,
  claimed: ReadonlyArray<EntityUnits>
): ReadonlyMap<EntityId, number> => {
  const taken = counted(claimed)
  return new Map(
    [...counted(left)].map(([entityId, quantity]) => [entityId, Math.max(0, quantity - (taken.get(entityId) ?? 0))])
  )
}

/** The units that are sent back: those that are asked for, or all there are. 422 for others and for more than are left. */
export const returnedUnits = <Line extends EntityUnits>(
  asked: ReadonlyArray<Line> | undefined,
  left: ReadonlyMap<EntityId, number>
): Result.Result<ReadonlyArray<Line | EntityUnits>, ValidationFailed> => {
  if (asked === undefined) {
    const all = [...left].filter(([, quantity]) => quantity > 0).map(([entityId, quantity]) => ({ entityId, quantity }))
    return all.length > 0
      ? Result.succeed(all)
      : Result.fail(new NothingToReturn())
  }
  for (const [entityId, quantity] of counted(asked)) {
    const most = left.get(entityId)
    if (most === undefined) {
      return Result.fail(new NotReturnable(entityId))
    }
    if (quantity > most) {
      return Result.fail(new MoreThanReturnable(entityId, most))
    }
  }
  return Result.succeed(asked)
}
