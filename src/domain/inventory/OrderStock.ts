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
   * Deducts what was handed over: everything the order still holds, or the named units. Returns what was deducted and
   * from where, which can be less than named.
   */
  readonly handOver: (
    orderId: string,
    lines?: ReadonlyArray<StockDemand>
  ) => Effect.Effect<ReadonlyArray<StockAllocation>, never, CurrentActor>
  /**
   * Returns the units of a `handOver` to their warehouses and allocates them to the order again, because a shipment
   * came back.
   */
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
