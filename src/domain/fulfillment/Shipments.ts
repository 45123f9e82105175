import { Context, DateTime, Effect, Layer } from "effect"
import type { CurrentActor } from "../access/Actor.ts"
import { Conflict, type InvalidTransition, NotFound, type ValidationFailed } from "../errors/ApiErrors.ts"
import { Hooks } from "../hooks/Hooks.ts"
import { Orders } from "../orders/Orders.ts"
import type { Fulfillment } from "./Fulfillment.ts"
import type { OrderGoods } from "./OrderGoods.ts"
import type { NewShipment, ShipmentChange } from "./Shipment.ts"
import { planChange } from "./ShipmentChanges.ts"
import { ShipmentRepo } from "./ShipmentRepo.ts"
import { planShipment, type ShipmentPlan } from "./ShipmentRules.ts"

/** Why nothing was sent: 404, 409, 422. */
export type ShipmentError = NotFound | Conflict | InvalidTransition | ValidationFailed

/** Fulfillments that people make and change (contract §5, docs/fulfillment.md). */
export class Shipments extends Context.Service<Shipments, {
  /**
   * Hands units of an order's lines over and moves the order on, in one transaction, and runs the hooks: first those
   * before the changes of status, which may refuse, then `fulfillment.afterCreate` and those after.
   * 422 for an order of which nothing can be sent and for more units than are left; 409 when others kept changing it.
   */
  readonly create: (orderId: string, request: NewShipment) => Effect.Effect<Fulfillment, ShipmentError, CurrentActor>
  /**
   * Changes status and tracking of a fulfillment. A cancelled one gives its units back: to the order, to be sent again,
   * and to the shelf they were taken from. The order keeps its status. 404; 422 for a way that it cannot go.
   */
  readonly change: (
    orderId: string,
    fulfillmentId: string,
    request: ShipmentChange
  ) => Effect.Effect<Fulfillment, NotFound | InvalidTransition, CurrentActor>
}>()("stoa/domain/fulfillment/Shipments") {
  static readonly layer = Layer.effect(
    Shipments,
    Effect.gen(function*() {
      const orders = yield* Orders
      const repo = yield* ShipmentRepo
      const hooks = yield* Hooks
      const clock = Effect.map(DateTime.now, DateTime.toDateUtc)

      /** Decides, asks the hooks of the way that leads to, and writes only if the locked order leads the same way. */
      const attempt = Effect.fnUntraced(function*(orderId: string, request: NewShipment) {
        const now = yield* clock
        const plan = (goods: OrderGoods) => Effect.fromResult(planShipment(goods, request, now))
        const goods = yield* repo.goodsOf(orderId)
        if (goods === undefined) return yield* NotFound.of("Order not found.")
        const foreseen = yield* plan(goods)
        const sameWay = Effect.fnUntraced(function*(locked: OrderGoods) {
          const decided: ShipmentPlan = yield* plan(locked)
          return locked.status === goods.status && decided.path.join() === foreseen.path.join()
            ? decided
            : yield* Conflict.of("The order was changed by other requests at the same time. Send this one again.")
        })
        const moving = { orderId, from: goods.status, path: foreseen.path }
        return yield* orders.moveOn(moving, (move) => repo.make(orderId, sameWay, move))
      })

      const create = Effect.fn("Shipments.create")(function*(orderId: string, request: NewShipment) {
        // An order changes its status at most three times on this way; each time others have to look again.
        const made = yield* Effect.retry(attempt(orderId, request), {
          times: 4,
          while: (error) => error._tag === "Conflict"
        })
        yield* hooks.after("fulfillment.afterCreate", made)
        return made
      })

      const change = Effect.fn("Shipments.change")(
        function*(orderId: string, fulfillmentId: string, request: ShipmentChange) {
          const now = yield* clock
          return yield* repo.change(
            orderId,
            fulfillmentId,
            (goods, stored) => Effect.fromResult(planChange(goods, stored, request, now))
          )
        }
      )

      return { create, change }
    })
  )
}
