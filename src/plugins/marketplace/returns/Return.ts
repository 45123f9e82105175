import { Effect, Schema } from "effect"
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
  uuid
} from "stoa/plugin"
import { said } from "../disputes/Dispute.ts"
import { countUnits, EntityUnits } from "../refunds/RefundChoice.ts"
import { subOrders } from "../suborders/SubOrder.ts"

const ends = ["refunded", "exchanged", "cancelled"] as const

/** Goods that a buyer sends back to a vendor (contract, plugins §1.2). */
export const returns = table("marketplace_return_requests", {
  subOrderId: uuid.references(subOrders, "restrict"),
  customerId: idOf(CustomerId).nullable,
  reason: oneOf(["defective", "wrong_item", "not_as_described", "changed_mind", "other"]).about(
    "Reason of the buyer; the words are in `description`."
  ),
  description: longText.nullable,
  status: oneOf(["requested", "vendor_approved", "vendor_rejected", "shipped_back", "received", ...ends])
    .default("requested").about(
      "Step of the return. The vendor approves or rejects it, and refunds the goods that it received."
    ),
  lineItems: jsonOf(
    Schema.Array(Schema.Struct({ ...EntityUnits.fields, reason: Schema.optional(Schema.String) })),
    65_536
  )
    .nullable.about("Units of lines that come back."),
  refundAmountCents: amount.nullable.about("Amount that goes back."),
  refundId: idOf(RefundId).nullable,
  coreReturnId: uuid.nullable.unique().about("Return of the core that holds its units; null: it is older than those."),
  vendorNotes: longText.nullable.about("Remarks of the vendor."),
  trackingNumber: text.nullable.about("Number of the parcel that comes back."),
  deadlineAt: timestamp.nullable.about("When the vendor has to have answered."),
  requestedAt: timestamp.defaultNow.forPeople,
  resolvedAt: timestamp.nullable
}, {
  indexes: [{ columns: ["status", "deadlineAt"] }],
  personal: { of: "customerId", onErase: ["description", "vendorNotes", "trackingNumber"] },
  atMost: { unbounded: "At most the units of its order." }
})

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
  extends invalid("NotDeliveredYet", "subOrderId", "subOrderId must be delivered before it can be returned.")
{}
class WindowOver
  extends invalid("WindowOver", "subOrderId", (days: number) => `subOrderId was delivered more than ${days} days ago.`)
{}
class NothingToReturn
  extends invalid("NothingToReturn", "subOrderId", "subOrderId has nothing left that could be returned.")
{}
class MoreThanReturnable extends invalid(
  "MoreThanReturnable",
  "lineItems",
  (entityId: EntityId, most: number) => `lineItems can have at most ${most} units of ${entityId} from this sub-order.`
) {}

const dayMs = 86_400_000

/** 422 unless the sub-order was delivered, and not longer ago than the window says. */
export const mayBeReturned = Effect.fnUntraced(
  function*({ deliveredAt, status }: Pick<RowOf<typeof subOrders>, "deliveredAt" | "status">, days: number, now: Date) {
    if (status !== "delivered" || deliveredAt === null) return yield* new NotDeliveredYet()
    if (now.getTime() - deliveredAt.getTime() > days * dayMs) return yield* new WindowOver(days)
  }
)

/**
 * The units that are sent back: those that are asked for, or all there are. `left` were not given back yet, and `claimed`
 * are what other returns ask for. 422 for others and for more than are left.
 */
export const returnedUnits = Effect.fnUntraced(function*<Line extends EntityUnits>(
  asked: ReadonlyArray<Line> | undefined,
  left: ReadonlyArray<EntityUnits>,
  claimed: ReadonlyArray<EntityUnits>
) {
  const taken = countUnits(claimed)
  const open = new Map(
    [...countUnits(left)].map(([id, quantity]) => [id, Math.max(0, quantity - (taken.get(id) ?? 0))])
  )
  if (asked === undefined) {
    const all = [...open].flatMap(([entityId, quantity]) => quantity > 0 ? [{ entityId, quantity }] : [])
    return all.length > 0 ? all : yield* new NothingToReturn()
  }
  for (const [entityId, quantity] of countUnits(asked)) {
    const most = open.get(entityId) ?? 0
    if (quantity > most) return yield* new MoreThanReturnable(entityId, most)
  }
  return asked
})
