import { DateTime, Effect, Schema } from "effect"
import {
  type FulfillmentId,
  InvalidTransition,
  NotFound,
  type PluginDatabase,
  type Where,
  type Which
} from "stoa/plugin"
import { inTransaction, Market } from "../Market.ts"
import { vendors } from "../vendors/Vendor.ts"
import { arrive, cancelShipment, type Parcel, send } from "./Parcels.ts"
import { type SubOrder, subOrderLines, subOrders, type SubOrderStatus } from "./SubOrder.ts"
import { cannotBecome, readSubOrder, sources, toSubOrder } from "./SubOrders.ts"

type Moved = Exclude<SubOrderStatus, "cancelled">
type Only = Where<typeof subOrders>

const steps = ["pending", "confirmed", "processing", "shipped", "delivered"] as const

/** Whether something that happens at `step` has happened in `status`. */
const reached = (status: Moved, step: typeof steps[number]): boolean => steps.indexOf(status) >= steps.indexOf(step)

/**
 * The times of a sub-order that reaches a status: the one of the status itself, and no longer those of steps behind it, for
 * staff may also move it back. Its money can be paid out `holdbackDays` after it was delivered.
 */
const stampsOf = (before: SubOrder, to: Moved, at: Date, holdbackDays: number) => ({
  confirmedAt: to === "confirmed" ? at : reached(to, "confirmed") ? before.confirmedAt : null,
  shippedAt: to === "shipped" ? at : reached(to, "shipped") ? before.shippedAt : null,
  deliveredAt: to === "delivered" ? at : null,
  availableAt: to === "delivered" ? new Date(at.getTime() + holdbackDays * 86_400_000) : null,
  fulfillmentStatus: to === "delivered" ? "fulfilled" as const : "unfulfilled" as const
})

/** Moves it if it still meets `only`, and tells of it; in the transaction of its parcel. */
const write = (found: SubOrder, to: Moved, only: Only, parcel: Partial<Parcel>) =>
  Effect.fnUntraced(function*(fulfillmentId: FulfillmentId | null) {
    const { db } = yield* Market
    const { holdbackDays } = yield* db.table(vendors).get(found.vendorId)
    const stamps = stampsOf(found, to, yield* DateTime.nowAsDate, holdbackDays)
    const head = yield* db.table(subOrders).update(found.id, { status: to, ...stamps, ...parcel, fulfillmentId }, only)
    const lines = yield* db.table(subOrderLines).list(
      { subOrderId: found.id },
      { order: ["createdAt"] }
    )
    const subOrder = toSubOrder({ head, lines })
    if (to === "shipped") {
      yield* db.announce("suborder.shipped", { entityType: "sub_order", entityId: found.id, payload: subOrder })
    }
    return subOrder
  })

const advance = (found: SubOrder, to: Moved, only: Only, parcel: Partial<Parcel> = {}) => {
  const written = write(found, to, only, parcel)
  if (to === "shipped") return send(found, parcel, written)
  if (to === "delivered") return arrive(found, written)
  return found.status === "shipped" ? cancelShipment(found, written) : inTransaction(written(null))
}

/** As its vendor does; of several requests at once one moves it. 404, 422 INVALID_TRANSITION. */
export const moveSubOrder = Effect.fn("SubOrderMoves.move")(
  function*(which: Which<typeof subOrders>, to: Exclude<Moved, "pending">, parcel?: Parcel) {
    const found = yield* readSubOrder(which)
    if (!sources[to].includes(found.status)) return yield* cannotBecome(found.status, to)
    return yield* advance(found, to, { status: { in: sources[to] } }, parcel)
  }
)

/** As staff may: to any status but out of an end. One that is there already stays as it is. */
export const forceSubOrder = Effect.fn("SubOrderMoves.force")(function*(id: string, to: Moved) {
  const found = yield* readSubOrder(id)
  if (found.status === to) return found
  if (found.status === "delivered" || found.status === "cancelled") return yield* cannotBecome(found.status, to)
  return yield* advance(found, to, { status: found.status })
})

/** One that was delivered, cancelled or disputed meanwhile is left as it is. */
const deliverUndisputed = (id: string) =>
  readSubOrder(id).pipe(
    Effect.flatMap((found) => advance(found, "delivered", { status: "shipped", onHold: false })),
    Effect.as(1),
    Effect.catchIf(Schema.is(Schema.Union([NotFound, InvalidTransition])), () => Effect.succeed(0)),
    // One that cannot be changed must not cost the others their turn.
    Effect.catchCause((cause) => Effect.as(Effect.logError(`sub-order ${id} could not be delivered`, cause), 0))
  )

const [atOnce, first] = [100, "00000000-0000-0000-0000-000000000000"] as const

/** Undisputed sub-orders that were shipped before a time. They were created before it too: the index by age finds them. */
export const overdueDeliveries = (db: PluginDatabase, before: Date, after: string = first) =>
  db.table(subOrders).list({
    status: "shipped",
    onHold: false,
    createdAt: { lt: before },
    shippedAt: { lt: before },
    id: { gt: after }
  }, { order: ["id"], limit: atOnce })

/**
 * Marks as delivered what was shipped `autoDeliverAfterDays` ago, which starts the holdback of its money; without it a
 * sub-order that is never marked as delivered would hold the vendor's money back for ever. Gives how many. Orders are locked
 * before sub-orders, so no row is locked while it is looked for.
 */
export const deliverOverdue = Effect.gen(function*() {
  const { db, settings: { autoDeliverAfterDays: days } } = yield* Market
  if (days === 0) return 0
  const before = DateTime.toDateUtc(DateTime.subtract(yield* DateTime.now, { days }))
  let count = 0
  for (let after: string | undefined = first; after !== undefined;) {
    const overdue: Effect.Success<ReturnType<typeof overdueDeliveries>> = yield* overdueDeliveries(db, before, after)
    for (const { id } of overdue) count += yield* deliverUndisputed(id)
    after = overdue.length === atOnce ? overdue.at(-1)?.id : undefined
  }
  return count
})
