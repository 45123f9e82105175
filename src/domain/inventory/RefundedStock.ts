import { Context, Effect, Layer } from "effect"
import type { CurrentActor } from "../access/Actor.ts"
import { RefundedStockRepo } from "./RefundedStockRepo.ts"
import type { StockAllocation } from "./StockRules.ts"

/**
 * What becomes of the stock of units that are refunded (contract §4.3). Called inside the caller's transaction, which
 * has locked the order's row, it joins it: a refund and its stock are written together or not at all. Each call is one
 * constant number of statements, however many units and lines.
 */
export class RefundedStock extends Context.Service<RefundedStock>()("stoa/domain/inventory/RefundedStock", {
  make: Effect.map(RefundedStockRepo, (repo) => {
    /** Skips the database if there is nothing to move. */
    const unlessEmpty = <Unit>(
      move: (
        orderId: string,
        units: ReadonlyArray<Unit>
      ) => Effect.Effect<ReadonlyArray<StockAllocation>, never, CurrentActor>
    ) =>
    (orderId: string, units: ReadonlyArray<Unit>) => units.length === 0 ? Effect.succeed([]) : move(orderId, units)
    return {
      /** Releases units that were never handed over, at most what the order holds; returns them by warehouse. */
      release: unlessEmpty(repo.release),
      /** Allocates again what a failed refund had released, as far as it is available; returns what was allocated. */
      holdAgain: unlessEmpty(repo.holdAgain),
      /**
       * Returns handed-over units to their warehouses as movements `return`: at most what left for this order and has not
       * come back. Returns them by warehouse.
       */
      restoreHold: unlessEmpty(repo.restoreHold)
    }
  })
}) {
  static readonly layer = Layer.effect(RefundedStock, RefundedStock.make)
}
