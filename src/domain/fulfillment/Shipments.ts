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
import { pathToEnd, planLines, planShipment, type ShipmentPlan } from "./ShipmentRules.ts"

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
   * Hands over what is left of some lines, for a plugin that ships them: `beside` is its work in the same transaction, behind
   * the lock of the order. It is given the fulfillment, or undefined where nothing of these lines was left. Hooks and
   * refusals as above; no permission is asked for, and what the request's Idempotency-Key marks is the work beside.
   */
  readonly sendLines: <A, E, R>(
    orderId: string,
    lineIds: ReadonlyArray<string>,
    parcel: Omit<NewShipment, "lineItems">,
    beside: (made: Fulfillment | undefined) => Effect.Effect<A, E, R>
  ) => Effect.Effect<A, ShipmentError | E, CurrentActor | R>
  /**
   * Makes an order fulfilled of which everything was handed over, where a hook that kept it open lets it go by now; inside
   * of the caller's transaction, which holds the lock of the order. Whatever refuses it leaves it as it is.
   */
  readonly conclude: (orderId: string) => Effect.Effect<void, never, CurrentActor>
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

      /** Foresees what a plan comes to, and where that leads the order; `sameWay` decides anew on the locked order. */
      const foresee = Effect.fnUntraced(function*<P extends ShipmentPlan | undefined, E>(
        orderId: string,
        plan: (goods: OrderGoods) => Effect.Effect<P, E>
      ) {
        const goods = yield* repo.goodsOf(orderId)
        if (goods === undefined) return yield* NotFound.of("Order not found.")
        const path = (yield* plan(goods))?.path ?? []
        const sameWay = Effect.fnUntraced(function*(locked: OrderGoods) {
          const decided = yield* plan(locked)
          return locked.status === goods.status && (decided?.path ?? []).join() === path.join()
            ? decided
            : yield* Conflict.of("The order was changed by other requests at the same time. Send this one again.")
        })
        return { moving: { orderId, from: goods.status, path }, sameWay }
      })

      /** Decides, asks the hooks of the way that leads to, and writes only if the locked order leads the same way. */
      const attempt = Effect.fnUntraced(function*(orderId: string, request: NewShipment) {
        const now = yield* clock
        const plan = (goods: OrderGoods) => Effect.fromResult(planShipment(goods, request, now))
        const { moving, sameWay } = yield* foresee(orderId, plan)
        return yield* orders.moveOn(moving, (move) => repo.make(orderId, sameWay, move))
      })

      const create = Effect.fn("Shipments.create")(function*(orderId: string, request: NewShipment) {
        const made = yield* Effect.retry(attempt(orderId, request), again)
        yield* hooks.after("fulfillment.afterCreate", made)
        return made
      })

      const sendLines = Effect.fn("Shipments.sendLines")(function*<A, E, R>(
        orderId: string,
        lineIds: ReadonlyArray<string>,
        parcel: Omit<NewShipment, "lineItems">,
        beside: (made: Fulfillment | undefined) => Effect.Effect<A, E, R>
      ) {
        const now = yield* clock
        const plan = (goods: OrderGoods) => Effect.fromResult(planLines(goods, lineIds, parcel, now))
        const sending = Effect.flatMap(
          foresee(orderId, plan),
          ({ moving, sameWay }) => orders.moveOn(moving, (move) => repo.makeBeside(orderId, sameWay, move, beside))
        )
        const { made, result } = yield* Effect.retry(sending, again)
        if (made !== undefined) yield* hooks.after("fulfillment.afterCreate", made)
        return result
      })

      const conclude = Effect.fn("Shipments.conclude")(function*(orderId: string) {
        const goods = yield* repo.goodsOf(orderId)
        const path = goods === undefined ? [] : pathToEnd(goods)
        if (goods === undefined || path.length === 0) return
        yield* Effect.catch(
          orders.moveOn({ orderId, from: goods.status, path }, (move) => move),
          (refused) => Effect.logInfo(`order ${orderId} stays ${goods.status}`, refused)
        )
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

      return { create, sendLines, conclude, change }
    })
  )
}

/** An order changes its status at most three times on this way; each time others have to look again. */
const again = { times: 4, while: (error: unknown) => error instanceof Conflict }
