import { Context, type Effect } from "effect"
import type { CurrentActor } from "../access/Actor.ts"
import type { StockDemand } from "../inventory/StockRules.ts"

/**
 * Fulfillments of a status change, for the module that changes the status. Joins the caller's transaction, which must
 * have locked the order. Each method sends at most two statements, for any number of lines.
 */
export class Handover extends Context.Service<Handover, {
  /**
   * Writes one fulfillment of all open units when staff mark an order fulfilled, so that its fulfillments cover every
   * unit (contract §4.2). Nothing when no unit is open. The caller takes the stock.
   */
  readonly rest: (orderId: string) => Effect.Effect<void, never, CurrentActor>
  /** Fulfilled units that are still in stock: those of digital goods with stock. */
  readonly unshelved: (orderId: string) => Effect.Effect<ReadonlyArray<StockDemand>, never, CurrentActor>
}>()("stoa/domain/fulfillment/Handover") {}
