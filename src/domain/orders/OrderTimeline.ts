import { Context, Effect, Layer } from "effect"
import type { CurrentActor } from "../access/Actor.ts"
import { NotFound } from "../errors/ApiErrors.ts"
import type { PageOf, PageRequest } from "../paging/Paging.ts"
import type { TimelineEntry } from "./Timeline.ts"
import { TimelineRepo } from "./TimelineRepo.ts"

/** What happened to an order (contract §4.4). */
export class OrderTimeline extends Context.Service<OrderTimeline, {
  /** A page, oldest first; 404 for an unknown order. */
  readonly of: (
    orderId: string,
    page: PageRequest
  ) => Effect.Effect<PageOf<TimelineEntry>, NotFound, CurrentActor>
}>()("stoa/domain/orders/OrderTimeline") {
  static readonly layer = Layer.effect(
    OrderTimeline,
    Effect.map(TimelineRepo, (repo) => ({
      of: Effect.fn("OrderTimeline.of")(function*(orderId: string, page: PageRequest) {
        return (yield* repo.of(orderId, page)) ?? (yield* NotFound.of("Order not found."))
      })
    }))
  )
}
