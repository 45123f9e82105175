import { Context, DateTime, Duration, Effect, Layer } from "effect"
import { timingSafeEqual } from "node:crypto"
import { hashCartSecret } from "../carts/Cart.ts"
import { type Actor, CurrentActor, holds, isOwn, requireAnyOf } from "../platform/access/Actor.ts"
import type { Conflict, InvalidTransition } from "../platform/errors/ApiErrors.ts"
import { Hooks } from "../platform/hooks/Hooks.ts"
import type { OrderId } from "../platform/ids/Id.ts"
import type { StatusChange } from "./Order.ts"
import { foreignOrder, type Order, OrderNotFound, type StoredOrder } from "./Order.ts"
import { OrderRepo } from "./OrderRepo.ts"
import { type OrderStatus, transition, type TransitionSource } from "./OrderStatus.ts"
import { OrderStatusRepo, type OrderTransition, type TransitionOutcome } from "./OrderStatusRepo.ts"

/** A guest can read an order with the cart secret this long (contract §4). */
const guestAccess = Duration.days(7)

const sameText = (left: string, right: string): boolean =>
  left.length === right.length && timingSafeEqual(new TextEncoder().encode(left), new TextEncoder().encode(right))

const isOwner = (actor: Actor, { ownerUserId }: StoredOrder): boolean => isOwn(actor, ownerUserId, "orders:read:own")

const isItsGuest = (actor: Actor, { cartSecretHash, order }: StoredOrder, now: Date): boolean =>
  order.customerId === null && cartSecretHash !== null && actor.cartSecret !== null &&
  now.getTime() - order.placedAt.getTime() <= Duration.toMillis(guestAccess) &&
  sameText(hashCartSecret(actor.cartSecret), cartSecretHash)

/** Tests whether the actor is the order's customer, or its guest within seven days. */
export const isHolder = (stored: StoredOrder) =>
  Effect.map(
    Effect.all([CurrentActor, DateTime.nowAsDate]),
    ([actor, now]) => isOwner(actor, stored) || isItsGuest(actor, stored, now)
  )

/**
 * Admits callers with `orders:read`, the customer, or a guest with the cart secret within seven days (contract §4).
 * Others get 404, also when the order exists; staff get 403.
 */
export const admitReader = Effect.fnUntraced(function*(stored: StoredOrder | undefined) {
  if (stored === undefined) return yield* new OrderNotFound()
  const actor = yield* CurrentActor
  return holds(actor, "orders:read") || (yield* isHolder(stored)) ? stored.order : yield* foreignOrder(actor)
})

export interface StatusRequest
  extends Pick<OrderTransition, "amountCaptured" | "authorizationEnded" | "payment" | "reason" | "unpaid">
{
  readonly status: string
  readonly source: TransitionSource
}

export interface Moving {
  readonly orderId: OrderId
  readonly from: OrderStatus
  readonly path: ReadonlyArray<OrderStatus>
}

type Transition = OrderStatusRepo["Service"]["transition"]

const askToMove = Effect.fnUntraced(
  function*(hooks: Hooks["Service"], orderId: OrderId, from: OrderStatus, to: OrderStatus) {
    // The sender confirms a pending order, not the parcel (`ShipmentRules.planLines`).
    yield* Effect.fromResult(transition(from, to, from === "pending" ? "request" : "fulfillment"))
    const source = "fulfillment" as const
    const asked: StatusChange = { orderId, fromStatus: from, newStatus: to, reason: null, source }
    const { newStatus, reason } = yield* hooks.before("orders.beforeStatusChange", asked)
    // A hook may leave an order open of which everything is on its way.
    const stays = to === "fulfilled" && newStatus === "partially_fulfilled"
    if (stays && from === newStatus) return []
    const step = stays ? newStatus : to
    return [{
      asked: { ...asked, newStatus: step, reason },
      change: { orderId, from, to: step, reason, covered: true }
    }]
  }
)

/** Orders after their creation (spec §4, contract §4). */
export class Orders extends Context.Service<Orders>()("stoa/domain/orders/Orders", {
  make: Effect.gen(function*() {
    const orders = yield* OrderRepo
    const statuses = yield* OrderStatusRepo
    const hooks = yield* Hooks

    /** Runs `orders.afterGet`. 404, 403. */
    const get = Effect.fn("Orders.get")(function*(idOrNumber: string) {
      const order = yield* admitReader(yield* orders.find(idOrNumber))
      yield* hooks.after("orders.afterGet", order)
      return order
    })

    const prepare = Effect.fnUntraced(function*(orderId: OrderId, request: StatusRequest) {
      yield* requireAnyOf(yield* CurrentActor, ["orders:update"])
      const found = yield* orders.find(orderId)
      if (found === undefined) return yield* new OrderNotFound()
      const from = found.order.status
      const to = yield* Effect.fromResult(transition(from, request.status, request.source))
      const asked = { orderId: found.order.id, fromStatus: from, newStatus: to, reason: request.reason }
      const { reason } = yield* hooks.before("orders.beforeStatusChange", asked)
      const { amountCaptured, authorizationEnded, payment, unpaid } = request
      const change = { orderId: found.order.id, from, to, reason, amountCaptured, authorizationEnded, payment, unpaid }
      return { change, asked: { ...asked, reason } }
    })

    /**
     * Changes an order's status (needs `orders:update`): checks the table (422 INVALID_TRANSITION), then runs
     * `orders.beforeStatusChange`, `write`, `orders.afterStatusChange`. `write` can run the transition in the order
     * entity or in another module's transaction; undefined: nothing was written. Hooks run outside the transaction. A
     * durable step settles the money of `refundId` later. 404, 401, 403 or 422; `write` adds 409.
     */
    const changeStatus = Effect.fn("Orders.changeStatus")(
      function*<Written extends TransitionOutcome | undefined, E, R>(
        orderId: OrderId,
        request: StatusRequest,
        write: (change: OrderTransition, transition: Transition) => Effect.Effect<Written, E, R>
      ) {
        const { asked, change } = yield* prepare(orderId, request)
        const outcome = yield* write(change, statuses.transition)
        if (outcome !== undefined) yield* hooks.after("orders.afterStatusChange", outcome.order, asked)
        return outcome
      }
    )

    /**
     * Moves an order through each status of `path` as its goods are handed over. Runs `orders.beforeStatusChange`
     * first; `write` runs `move` in its transaction; then `orders.afterStatusChange`. `move` fails with 409 if the
     * order has left `from`.
     */
    const moveOn = Effect.fn("Orders.moveOn")(function*<Written, E, R>(
      { from, orderId, path }: Moving,
      write: (move: Effect.Effect<void, Conflict | InvalidTransition, CurrentActor>) => Effect.Effect<Written, E, R>
    ) {
      const asked = yield* Effect.forEach(path, (to, index) => askToMove(hooks, orderId, path[index - 1] ?? from, to))
      const steps = asked.flat()
      const moved: Array<{ readonly order: Order; readonly asked: StatusChange }> = []
      const move = Effect.forEach(
        steps,
        ({ asked, change }) =>
          Effect.map(statuses.transition(change), ({ order }) => void moved.push({ order, asked })),
        { discard: true }
      )
      const written = yield* write(
        Effect.updateService(move, CurrentActor, ({ executionId: _, ...actor }): Actor => actor)
      )
      for (const { asked, order } of moved) yield* hooks.after("orders.afterStatusChange", order, asked)
      return written
    })

    return {
      get,
      /** Without checks and hooks, for services that decide access themselves. */
      find: orders.find,
      list: orders.list,
      changeStatus,
      moveOn
    }
  })
}) {
  static readonly layer = Layer.effect(Orders, Orders.make)
}
