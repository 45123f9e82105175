import { Context, DateTime, Effect, Layer } from "effect"
import {
  type Conflict,
  type CurrentActor,
  type FulfillmentId,
  InvalidTransition,
  type NotFound,
  PluginDatabase,
  type ValidationFailed,
  type Where
} from "stoa/plugin"
import { vendors } from "../vendors/VendorTables.ts"
import { type Parcel, Parcels } from "./Parcels.ts"
import { type SubOrder, toSubOrder } from "./SubOrder.ts"
import { sources, sourcesForStaff, stampsOf, type SubOrderStatus } from "./SubOrderMachine.ts"
import { type OfVendor, SubOrders } from "./SubOrders.ts"
import { subOrderLines, subOrders } from "./SubOrderTables.ts"

type Moved = Exclude<SubOrderStatus, "cancelled">
type MoveError = NotFound | Conflict | ValidationFailed | InvalidTransition
type Only = Where<typeof subOrders>

/** What a status cannot become. */
export const cannotBecome = (from: SubOrderStatus, to: SubOrderStatus) =>
  InvalidTransition.of(`A sub-order that is ${from} cannot become ${to}.`)

/** The way of vendors' parts of orders to the customer (contract, plugins §1.2). */
export class SubOrderMoves extends Context.Service<SubOrderMoves, {
  /** As its vendor does; of several requests at once one moves it. 404, 422 INVALID_TRANSITION. */
  readonly move: (
    id: string,
    of: OfVendor,
    to: Exclude<Moved, "pending">,
    parcel?: Parcel
  ) => Effect.Effect<SubOrder, MoveError, CurrentActor>
  /** As staff may: to any status but out of an end. One that is there already stays as it is. */
  readonly force: (id: string, to: Moved) => Effect.Effect<SubOrder, MoveError, CurrentActor>
  /** The timer: marks it delivered if it is still on its way and undisputed. */
  readonly deliverUndisputed: (id: string) => Effect.Effect<SubOrder, MoveError, CurrentActor>
}>()("stoa/plugins/marketplace/suborders/SubOrderMoves") {
  static readonly layer = Layer.effect(
    SubOrderMoves,
    Effect.gen(function*() {
      const [db, all, parcels] = yield* Effect.all([PluginDatabase, SubOrders, Parcels])
      const rows = db.table(subOrders)

      /** Moves it if it still meets `only`, and tells of it; in the transaction of its parcel. */
      const write = (found: SubOrder, to: Moved, only: Only, parcel: Partial<Parcel>) =>
        Effect.fnUntraced(function*(fulfillmentId: FulfillmentId | null) {
          const { holdbackDays } = yield* db.table(vendors).get(found.vendorId)
          const stamps = stampsOf(found, to, DateTime.toDateUtc(yield* DateTime.now), holdbackDays)
          const moved = yield* rows.update(found.id, { status: to, ...stamps, ...parcel, fulfillmentId }, only)
          const lines = yield* db.table(subOrderLines).list(
            { subOrderId: found.id },
            { order: ["createdAt"], limit: 100_000 }
          )
          const subOrder = toSubOrder(moved, lines)
          if (to === "shipped") {
            yield* db.announce("suborder.shipped", { entityType: "sub_order", entityId: found.id, payload: subOrder })
          }
          return subOrder
        })

      const advance = (found: SubOrder, to: Moved, only: Only, parcel: Partial<Parcel> = {}) => {
        const written = write(found, to, only, parcel)
        if (to === "shipped") return parcels.send(found, parcel, written)
        if (to === "delivered") return parcels.arrive(found, written)
        return found.status === "shipped" ? parcels.cancelShipment(found, written) : db.transaction(written(null))
      }

      return {
        move: Effect.fn("SubOrderMoves.move")(function*(id, of, to, parcel = undefined) {
          const found = yield* all.get(id, of)
          if (!sources[to].includes(found.status)) return yield* cannotBecome(found.status, to)
          return yield* advance(found, to, { status: { in: sources[to] } }, parcel)
        }),
        force: Effect.fn("SubOrderMoves.force")(function*(id, to) {
          const found = yield* all.get(id)
          if (found.status === to) return found
          if (!sourcesForStaff(to).includes(found.status)) return yield* cannotBecome(found.status, to)
          return yield* advance(found, to, { status: found.status })
        }),
        deliverUndisputed: Effect.fn("SubOrderMoves.deliverUndisputed")(function*(id) {
          return yield* advance(yield* all.get(id), "delivered", { status: "shipped", onHold: false })
        })
      }
    })
  )
}
