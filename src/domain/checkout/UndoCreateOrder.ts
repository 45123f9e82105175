import { Context, type Effect } from "effect"
import type { CurrentActor } from "../access/Actor.ts"

/** Returns what a cancelled order consumed besides stock and money, for the module that cancels it. */
export class UndoCreateOrder extends Context.Service<UndoCreateOrder, {
  /**
   * Returns the promotion usage, and releases the cart if nothing was captured (contract §3.6). Call it in the
   * transaction that cancels the order. Repeating it changes nothing.
   */
  readonly undo: (orderId: string) => Effect.Effect<void, never, CurrentActor>
}>()("stoa/domain/checkout/UndoCreateOrder") {}
