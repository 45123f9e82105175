import { Context, Effect, Layer } from "effect"
import type { CurrentActor } from "../access/Actor.ts"
import { HoldRepo } from "./HoldRepo.ts"
import type { StockAllocation, StockDemand } from "./StockRules.ts"

/**
 * What becomes of stock that an order holds, for the modules that decide it. Called inside the caller's transaction it
 * joins it, so that an order's status and its stock change together or not at all.
 */
export class OrderStock extends Context.Service<OrderStock, {
  /** Gives back everything the order still holds: from its checkout and reserved by hand. */
  readonly release: (orderId: string) => Effect.Effect<void, never, CurrentActor>
  /**
   * Takes what was handed over off the shelf: everything the order still holds, or the named units of it. Gives what was
   * taken and from where, which is less than was named where the order holds less.
   */
  readonly handOver: (
    orderId: string,
    lines?: ReadonlyArray<StockDemand>
  ) => Effect.Effect<ReadonlyArray<StockAllocation>, never, CurrentActor>
  /** Puts units that `handOver` took back where they were, held for the order again: what was sent has come back. */
  readonly returnToHold: (
    orderId: string,
    units: ReadonlyArray<StockAllocation>
  ) => Effect.Effect<void, never, CurrentActor>
}>()("stoa/domain/inventory/OrderStock") {
  static readonly layer = Layer.effect(
    OrderStock,
    Effect.map(HoldRepo, (holds) => ({
      release: (orderId: string) => Effect.asVoid(holds.releaseSold(orderId)),
      handOver: holds.fulfilSold,
      returnToHold: holds.returnToHold
    }))
  )
}
