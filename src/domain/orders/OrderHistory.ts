import { Context, Effect, Layer } from "effect"
import type { CurrentActor } from "../access/Actor.ts"
import { OrderRepo } from "./OrderRepo.ts"

/** What a customer has bought before: for promotions of the first order (contract §8). */
export class OrderHistory extends Context.Service<OrderHistory, {
  /** Orders of a customer profile that were not cancelled; 0 for a guest. */
  readonly countOf: (customerId: string | null) => Effect.Effect<number, never, CurrentActor>
}>()("stoa/domain/orders/OrderHistory") {
  static readonly layer = Layer.effect(
    OrderHistory,
    Effect.map(OrderRepo, (orders) => ({
      countOf: (customerId: string | null) => (customerId === null ? Effect.succeed(0) : orders.countOf(customerId))
    }))
  )
}
