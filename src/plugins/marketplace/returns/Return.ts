import { Result, Schema } from "effect"
import {
  amount,
  CustomerId,
  EntityId,
  idOf,
  inputOf,
  invalid,
  jsonOf,
  longText,
  machine,
  oneOf,
  RefundId,
  type RowOf,
  table,
  text,
  timestamp,
  uuid,
  type ValidationFailed
} from "stoa/plugin"
import { said } from "../disputes/Dispute.ts"
import { EntityUnits } from "../refunds/RefundChoice.ts"
import { subOrders } from "../suborders/SubOrder.ts"

/** Goods that a buyer sends back to a vendor (contract, plugins §1.2). */
export const returns = table("marketplace_return_requests", {
  subOrderId: uuid.references(subOrders, "restrict"),
  customerId: idOf(CustomerId).nullable,
  reason: oneOf(["defective", "wrong_item", "not_as_described", "changed_mind", "other"]),
  description: longText.nullable,
  status: oneOf(["requested", "vendor_approved", "vendor_rejected", "shipped_back", "received", "refunded"])
    .default("requested"),
  lineItems: jsonOf(Schema.Array(Schema.Struct({ ...EntityUnits.fields, reason: Schema.optional(Schema.String) })))
    .nullable,
  refundAmountCents: amount.nullable,
  refundId: idOf(RefundId).nullable,
  vendorNotes: longText.nullable,
  trackingNumber: text.nullable,
  /** When the vendor has to have answered. */
  deadlineAt: timestamp.nullable,
  requestedAt: timestamp.defaultNow,
  resolvedAt: timestamp.nullable
}, { indexes: [{ columns: ["status", "deadlineAt"] }, { columns: ["subOrderId", "createdAt"] }] })
export type ReturnRow = RowOf<typeof returns>

export const returnMachine = machine(returns, {
  noun: "return",
  moves: {
    approve: { from: ["requested"], to: "vendor_approved" },
    reject: { from: ["requested"], to: "vendor_rejected", stamp: "resolvedAt" },
    shipBack: { from: ["vendor_approved"], to: "shipped_back" },
    receive: { from: ["shipped_back"], to: "received" },
    refund: { from: ["received"], to: "refunded", stamp: "resolvedAt" }
  }
})

const Units = Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 2_147_483_647 }))

/** What asks for a return; without lines, of everything that is left. `customerId` is not read: it is who bought it. */
export const NewReturn = Schema.Struct({
  ...inputOf(returns, { required: ["subOrderId", "reason"] }).fields,
  description: Schema.optional(said),
  lineItems: Schema.optional(
    Schema.Array(Schema.Struct({ entityId: EntityId, quantity: Units, reason: Schema.optional(said) })).check(
      Schema.isBetweenLength(1, 1_000)
    )
  )
})

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
