import { Context, Effect, Layer } from "effect"
import type { CurrentActor } from "../access/Actor.ts"
import type { StockDemand } from "../inventory/StockRules.ts"
import { HandoverRepo } from "./HandoverRepo.ts"

/**
 * What a change of an order's status means for its fulfillments, for the module that changes it. Called inside the
 * caller's transaction, after it has locked the order, it joins it.
 */
export class Handover extends Context.Service<Handover, {
  /**
   * Writes one fulfillment over everything that is left of an order which somebody declares fulfilled, so that its
   * fulfillments tell of every unit (contract §4.2); nothing when nothing is left. The stock is the caller's.
   */
  readonly rest: (orderId: string) => Effect.Effect<void, never, CurrentActor>
  /** Units that were handed over and are still on the shelf: those of digital goods that have a stock. */
  readonly unshelved: (orderId: string) => Effect.Effect<ReadonlyArray<StockDemand>, never, CurrentActor>
}>()("stoa/domain/fulfillment/Handover") {
  static readonly layer = Layer.effect(
    Handover,
    Effect.map(HandoverRepo, ({ rest, unshelved }) => ({ rest, unshelved }))
  )
}
