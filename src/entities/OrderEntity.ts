import { Effect, Schema } from "effect"
import { Entity } from "effect/cluster"
import { Rpc } from "effect/rpc"
import { Order } from "../domain/orders/Order.ts"
import { OrderStatus } from "../domain/orders/OrderStatus.ts"
import { OrderStatusRepo } from "../domain/orders/OrderStatusRepo.ts"
import { Actor, CurrentActor } from "../domain/platform/access/Actor.ts"
import { Conflict, InvalidTransition, Unavailable } from "../domain/platform/errors/ApiErrors.ts"
import { OrderId, RefundId } from "../domain/platform/ids/Id.ts"
import { orUnavailable, unlessPast } from "./EntityCall.ts"

/**
 * Writes status changes of one order one at a time (ARCHITECTURE §3). Permissions and hooks come before its turn: a
 * hook may take longer than a caller waits. It caches nothing; the table's compare-and-set is the guard.
 */
export const OrderEntity = Entity.make("Order", [
  Rpc.make("changeStatus", {
    /** `until`: the deadline in milliseconds since 1970. */
    payload: {
      actor: Actor,
      from: OrderStatus,
      to: OrderStatus,
      reason: Schema.NullOr(Schema.String),
      /** Only before any capture. */
      unpaid: Schema.optional(Schema.Boolean),
      until: Schema.Number
    },
    /** `refundId`: a refund that a durable workflow has to settle. */
    success: Schema.Struct({ order: Order, refundId: Schema.NullOr(RefundId) }),
    error: Schema.Union([Conflict, InvalidTransition, Unavailable])
  })
])

export const orderEntityLayer = OrderEntity.toLayer(
  Effect.gen(function*() {
    const statuses = yield* OrderStatusRepo
    const { entityId } = yield* Entity.CurrentAddress
    return OrderEntity.of({
      changeStatus: ({ payload: { actor, from, reason, to, unpaid, until } }) =>
        unlessPast(until).pipe(
          Effect.andThen(statuses.transition({ orderId: OrderId.make(String(entityId)), from, to, reason, unpaid })),
          Effect.provideService(CurrentActor, actor),
          orUnavailable
        )
    })
  }),
  { maxIdleTime: "1 minute", disableFatalDefects: true }
)
