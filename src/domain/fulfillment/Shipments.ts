import { Context, DateTime, Effect, Layer } from "effect"
import { OrderNotFound } from "../orders/Order.ts"
import { Orders } from "../orders/Orders.ts"
import { Conflict } from "../platform/errors/ApiErrors.ts"
import { conflict } from "../platform/errors/ErrorKinds.ts"
import { Hooks } from "../platform/hooks/Hooks.ts"
import type { FulfillmentId, OrderId } from "../platform/ids/Id.ts"
import type { Fulfillment, NewShipment, ShipmentChange } from "./Fulfillment.ts"
import { planChange } from "./ShipmentChanges.ts"
import { ShipmentRepo } from "./ShipmentRepo.ts"
import { type OrderGoods, pathToEnd, planLines, planShipment, type WantedUnits } from "./ShipmentRules.ts"

class OrderChanged extends conflict(
  "OrderChanged",
  "The order was changed by other requests at the same time. Send this one again.",
  { retryable: true }
) {}

type Plan = (goods: OrderGoods) => ReturnType<typeof planLines>

/** Fulfillments by staff (contract §5, docs/orders.md). */
export class Shipments extends Context.Service<Shipments>()("stoa/domain/fulfillment/Shipments", {
  make: Effect.gen(function*() {
    const orders = yield* Orders
    const repo = yield* ShipmentRepo
    const hooks = yield* Hooks
    const clock = Effect.map(DateTime.now, DateTime.toDateUtc)

    const foresee = Effect.fnUntraced(function*(orderId: OrderId, plan: Plan) {
      const goods = yield* repo.goodsOf(orderId)
      if (goods === undefined) return yield* new OrderNotFound()
      const path = (yield* Effect.fromResult(plan(goods)))?.path ?? []
      const sameWay = Effect.fnUntraced(function*(locked: OrderGoods) {
        const decided = yield* Effect.fromResult(plan(locked))
        return locked.status === goods.status && (decided?.path ?? []).join() === path.join()
          ? decided
          : yield* new OrderChanged()
      })
      return { moving: { orderId, from: goods.status, path }, sameWay }
    })

    /**
     * Runs the before-hooks of the transitions, and writes only if the locked order leads to the same ones; else tries
     * again.
     */
    const send = Effect.fnUntraced(function*<A, E, R>(
      orderId: OrderId,
      plan: Plan,
      beside: (made: Fulfillment | undefined) => Effect.Effect<A, E, R>,
      marked: boolean
    ) {
      const sending = Effect.flatMap(
        foresee(orderId, plan),
        ({ moving, sameWay }) => orders.moveOn(moving, (move) => repo.make(orderId, sameWay, move, beside, marked))
      )
      const { made, result } = yield* Effect.retry(sending, again)
      if (made !== undefined) yield* hooks.after("fulfillment.afterCreate", made)
      return result
    })

    /**
     * Fulfills units and changes the order's status in one transaction, with hooks. 422 for an order that cannot be
     * fulfilled and for more units than are open; 409 when concurrent changes persist.
     */
    const create = Effect.fn("Shipments.create")(function*(orderId: OrderId, request: NewShipment) {
      const now = yield* clock
      const made = (one: Fulfillment | undefined) =>
        one === undefined ? Effect.die(new Error("A shipment has no units.")) : Effect.succeed(one)
      return yield* send(orderId, (goods) => planShipment(goods, request, now), made, true)
    })

    /**
     * Fulfills open units of some lines for a plugin. `beside` runs in the same transaction and gets the
     * fulfillment, or undefined without open units; it writes the idempotency record. Checks no permission.
     */
    const sendLines = Effect.fn("Shipments.sendLines")(function*<A, E, R>(
      orderId: OrderId,
      wanted: ReadonlyArray<WantedUnits>,
      parcel: Omit<NewShipment, "lineItems">,
      beside: (made: Fulfillment | undefined) => Effect.Effect<A, E, R>
    ) {
      const now = yield* clock
      return yield* send(orderId, (goods) => planLines(goods, wanted, parcel, now), beside, false)
    })

    /**
     * Marks a completely covered order fulfilled if a hook that kept it open now allows it. Runs in the caller's
     * transaction, which holds the order's lock.
     */
    const conclude = Effect.fn("Shipments.conclude")(function*(orderId: OrderId) {
      const goods = yield* repo.goodsOf(orderId)
      const path = goods === undefined ? [] : pathToEnd(goods)
      if (goods === undefined || path.length === 0) return
      yield* Effect.catch(
        orders.moveOn({ orderId, from: goods.status, path }, (move) => move),
        (refused) => Effect.logInfo(`order ${orderId} stays ${goods.status}`, refused)
      )
    })

    /**
     * A cancelled fulfillment returns its units to the order and their stock. The order keeps its status. 404; 422 for
     * an invalid transition.
     */
    const change = Effect.fn("Shipments.change")(
      function*(orderId: OrderId, fulfillmentId: FulfillmentId, request: ShipmentChange) {
        const now = yield* clock
        return yield* repo.change(
          orderId,
          fulfillmentId,
          (goods, stored) => Effect.fromResult(planChange(goods, stored, request, now))
        )
      }
    )

    return { create, sendLines, conclude, change }
  })
}) {
  static readonly layer = Layer.effect(Shipments, Shipments.make)
}

const again = { times: 4, while: (error: unknown) => error instanceof Conflict }
