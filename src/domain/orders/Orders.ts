import { Context, DateTime, Duration, Effect, Layer } from "effect"
import { timingSafeEqual } from "node:crypto"
import { hashCartSecret } from "../carts/Cart.ts"
import { type Actor, CurrentActor, holds, isOwn, requireAnyOf } from "../platform/access/Actor.ts"
import type { Conflict, InvalidTransition } from "../platform/errors/ApiErrors.ts"
import { Hooks } from "../platform/hooks/Hooks.ts"
import type { OrderId } from "../platform/ids/Id.ts"
import type { StatusChange } from "./Order.ts"
import { ForeignOrder, type Order, OrderNotFound, type StoredOrder } from "./Order.ts"
import { OrderRepo } from "./OrderRepo.ts"
import { type OrderStatus, transition, type TransitionSource } from "./OrderStatus.ts"
import { OrderStatusRepo, type OrderTransition, type TransitionOutcome } from "./OrderStatusRepo.ts"

/** How long after its creation a guest can read an order with the cart secret (contract §4). */
const guestAccess = Duration.days(7)

const sameText = (left: string, right: string): boolean =>
  left.length === right.length && timingSafeEqual(new TextEncoder().encode(left), new TextEncoder().encode(right))

const isOwner = (actor: Actor, { ownerUserId }: StoredOrder): boolean => isOwn(actor, ownerUserId, "orders:read:own")

const isItsGuest = (actor: Actor, { cartSecretHash, order }: StoredOrder, now: Date): boolean =>
  order.customerId === null && cartSecretHash !== null && actor.cartSecret !== null &&
  now.getTime() - order.placedAt.getTime() <= Duration.toMillis(guestAccess) &&
  sameText(hashCartSecret(actor.cartSecret), cartSecretHash)

/**
 * Who may read an order (contract §4): callers with `orders:read`, the customer it belongs to, or a guest with the cart
 * secret within seven days. 404 if there is none, 403 if it belongs to someone else.
 */
export const admitReader = Effect.fnUntraced(function*(stored: StoredOrder | undefined) {
  if (stored === undefined) return yield* new OrderNotFound()
  const [actor, now] = [yield* CurrentActor, DateTime.toDateUtc(yield* DateTime.now)]
  return holds(actor, "orders:read") || isOwner(actor, stored) || isItsGuest(actor, stored, now)
    ? stored.order
    : yield* new ForeignOrder()
})

/** A requested change of status; `status` can be any text, `reason` is stored in the history. */
export interface StatusRequest
  extends Pick<OrderTransition, "amountCaptured" | "authorizationEnded" | "reason" | "unpaid">
{
  readonly status: string
  readonly source: TransitionSource
}

/** A status path for an order whose goods are handed over. */
export interface Moving {
  readonly orderId: OrderId
  readonly from: OrderStatus
  readonly path: ReadonlyArray<OrderStatus>
}

/** Writes a decided change of status with all that follows from it, in one transaction. */
type Transition = OrderStatusRepo["Service"]["transition"]

/** One status step of an order whose goods are handed over, permitted by the table and the hooks. */
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

    /** One order with its lines, if the caller may read it; runs `orders.afterGet`. 404, 403. */
    const get = Effect.fn("Orders.get")(function*(idOrNumber: string) {
      const order = yield* admitReader(yield* orders.find(idOrNumber))
      yield* hooks.after("orders.afterGet", order)
      return order
    })

    /** Checks the transition and runs the before hooks; the result only has to be written. */
    const prepare = Effect.fnUntraced(function*(orderId: OrderId, request: StatusRequest) {
      yield* requireAnyOf(yield* CurrentActor, ["orders:update"])
      const found = yield* orders.find(orderId)
      if (found === undefined) return yield* new OrderNotFound()
      const from = found.order.status
      const to = yield* Effect.fromResult(transition(from, request.status, request.source))
      const asked = { orderId: found.order.id, fromStatus: from, newStatus: to, reason: request.reason }
      const { reason } = yield* hooks.before("orders.beforeStatusChange", asked)
      const { amountCaptured, authorizationEnded, unpaid } = request
      const change = { orderId: found.order.id, from, to, reason, amountCaptured, authorizationEnded, unpaid }
      return { change, asked: { ...asked, reason } }
    })

    /**
     * Changes an order's status (needs `orders:update`): checks the transition table (422 INVALID_TRANSITION), then
     * runs `orders.beforeStatusChange`, `write`, `orders.afterStatusChange`. `write` receives the transition and the
     * single status writer, and can run it in the order entity or in a transaction with another module. If `write`
     * returns undefined, nothing was written and the after hook is skipped. Hooks run outside the transaction. A
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
     * Moves an order through each status of `path` (which can be empty) as its goods are handed over. Checks the table
     * and runs `orders.beforeStatusChange` first; then `write` runs `move`, the single status writer, in its
     * transaction; then `orders.afterStatusChange`. `move` fails with 409 if the order has left `from`.
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
      // The status steps follow from the request's change in `write`, which alone carries the idempotency record.
      const written = yield* write(
        Effect.updateService(move, CurrentActor, ({ executionId: _, ...actor }): Actor => actor)
      )
      for (const { asked, order } of moved) yield* hooks.after("orders.afterStatusChange", order, asked)
      return written
    })

    return {
      get,
      /**
       * An order with what decides who may read it and who moved its money, for services that decide that themselves;
       * no hook runs. Undefined when the organization has no such order.
       */
      find: orders.find,
      /** A page of all orders with their lines, newest first. */
      list: orders.list,
      changeStatus,
      moveOn
    }
  })
}) {
  static readonly layer = Layer.effect(Orders, Orders.make)
}
