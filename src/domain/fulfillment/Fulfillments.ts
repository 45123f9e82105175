import { Context, Effect, Layer } from "effect"
import type { CurrentActor } from "../access/Actor.ts"
import type { Forbidden, NotFound } from "../errors/ApiErrors.ts"
import { admitReader } from "../orders/OrderAccess.ts"
import { OrderRepo } from "../orders/OrderRepo.ts"
import type { PageOf, PageRequest } from "../paging/Paging.ts"
import type { Fulfillment } from "./Fulfillment.ts"
import { FulfillmentRepo } from "./FulfillmentRepo.ts"

/** What of an order has been handed over (spec §4, contract §5). */
export class Fulfillments extends Context.Service<Fulfillments, {
  /** A page of the fulfillments of an order, for whoever may read the order. 404, 403. */
  readonly ofOrder: (
    orderId: string,
    page: PageRequest
  ) => Effect.Effect<PageOf<Fulfillment>, NotFound | Forbidden, CurrentActor>
}>()("stoa/domain/fulfillment/Fulfillments") {
  static readonly layer = Layer.effect(
    Fulfillments,
    Effect.gen(function*() {
      const orders = yield* OrderRepo
      const repo = yield* FulfillmentRepo
      return {
        ofOrder: Effect.fn("Fulfillments.ofOrder")(function*(orderId: string, page: PageRequest) {
          const order = yield* admitReader(yield* orders.find(orderId))
          return yield* repo.ofOrder(order.id, page)
        })
      }
    })
  )
}
