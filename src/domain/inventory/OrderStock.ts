import { Context, Effect, Layer } from "effect"
import { HoldRepo } from "./HoldRepo.ts"

/**
 * What becomes of stock that an order holds, for the modules that decide it. Called inside the caller's transaction it
 * joins it, so that an order's status and its stock change together or not at all.
 */
export class OrderStock extends Context.Service<OrderStock>()("stoa/domain/inventory/OrderStock", {
  make: Effect.map(HoldRepo, (holds) => ({
    /** Gives back everything the order still holds: from its checkout and reserved by hand. */
    release: (orderId: string) => Effect.asVoid(holds.releaseSold(orderId)),
    /**
     * Deducts what was handed over: everything the order still holds, or the named units. Returns what was deducted and
     * from where, which can be less than named.
     */
    handOver: holds.fulfilSold,
    /**
     * Returns the units of a `handOver` to their warehouses and allocates them to the order again, because a shipment
     * came back.
     */
    returnToHold: holds.returnToHold
  }))
}) {
  static readonly layer = Layer.effect(OrderStock, OrderStock.make)
}
