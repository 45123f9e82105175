import { Effect, Schema } from "effect"
import { Entity } from "effect/cluster"
import { Rpc } from "effect/rpc"
import { Actor, CurrentActor } from "../domain/access/Actor.ts"
import { Conflict, InvalidTransition, Unavailable } from "../domain/errors/ApiErrors.ts"
import { Uuid } from "../domain/ids/Id.ts"
import { Order } from "../domain/orders/Order.ts"
import { OrderStatus } from "../domain/orders/OrderStatus.ts"
import { OrderStatusRepo } from "../domain/orders/OrderStatusRepo.ts"
import { orUnavailable, unlessPast } from "./EntityCall.ts"

/**
 * The actor of one order (ARCHITECTURE §3), addressed by the order's id: it writes one change of status at a time. What
 * may be asked and what the hooks say is decided before its turn, as at a cart: a hook may take longer than a caller
 * waits for an actor. It remembers nothing; the compare-and-set of the table is the guard, also against changes that
 * come past it (provider events, fulfillments).
 */
export const OrderEntity = Entity.make("Order", [
  Rpc.make("changeStatus", {
    /** Who asks, for what, and until when the answer is wanted (milliseconds since 1970). */
    payload: {
      actor: Actor,
      from: OrderStatus,
      to: OrderStatus,
      reason: Schema.NullOr(Schema.String),
      until: Schema.Number
    },
    /** `refundId`: money of this change that a durable step has to settle. */
    success: Schema.Struct({ order: Order, refundId: Schema.NullOr(Uuid) }),
    error: Schema.Union([Conflict, InvalidTransition, Unavailable])
  })
])

export const orderEntityLayer = OrderEntity.toLayer(
  Effect.gen(function*() {
    const statuses = yield* OrderStatusRepo
    const { entityId } = yield* Entity.CurrentAddress
    return OrderEntity.of({
      changeStatus: ({ payload: { actor, from, reason, to, until } }) =>
        unlessPast(until).pipe(
          Effect.andThen(statuses.transition({ orderId: String(entityId), from, to, reason })),
          Effect.provideService(CurrentActor, actor),
          orUnavailable
        )
    })
  }),
  { maxIdleTime: "1 minute", disableFatalDefects: true }
)
