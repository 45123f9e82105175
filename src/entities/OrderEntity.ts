import { Effect, Schema } from "effect"
import { Entity } from "effect/cluster"
import { Rpc } from "effect/rpc"
import { Actor, CurrentActor } from "../domain/access/Actor.ts"
import {
  Conflict,
  Forbidden,
  InvalidTransition,
  NotFound,
  Unauthorized,
  Unavailable,
  ValidationFailed
} from "../domain/errors/ApiErrors.ts"
import { Uuid } from "../domain/ids/Id.ts"
import { Order } from "../domain/orders/Order.ts"
import { Orders } from "../domain/orders/Orders.ts"
import { unlessPast } from "./EntityCall.ts"

/**
 * The actor of one order (ARCHITECTURE §3), addressed by the order's id: it admits one change of status at a time, so
 * that hooks of two changes never run beside each other. It remembers nothing; the compare-and-set of the table is the
 * guard, also against changes that come past it (provider events, fulfillments).
 */
export const OrderEntity = Entity.make("Order", [
  Rpc.make("changeStatus", {
    /** Who asks, for what, and until when the answer is wanted (milliseconds since 1970). */
    payload: {
      actor: Actor,
      status: Schema.String,
      reason: Schema.NullOr(Schema.String),
      until: Schema.Number
    },
    /** `refundId`: money of this change that a durable step has to settle. */
    success: Schema.Struct({ order: Order, refundId: Schema.NullOr(Uuid) }),
    error: Schema.Union([
      NotFound,
      Unauthorized,
      Forbidden,
      Conflict,
      InvalidTransition,
      ValidationFailed,
      Unavailable
    ])
  })
])

export const orderEntityLayer = OrderEntity.toLayer(
  Effect.gen(function*() {
    const orders = yield* Orders
    const { entityId } = yield* Entity.CurrentAddress
    return OrderEntity.of({
      changeStatus: ({ payload: { actor, reason, status, until } }) =>
        unlessPast(until).pipe(
          Effect.andThen(orders.changeStatus(String(entityId), { status, reason, source: "request" })),
          Effect.provideService(CurrentActor, actor)
        )
    })
  }),
  { maxIdleTime: "1 minute", disableFatalDefects: true }
)
