import { Context, Effect, Layer } from "effect"
import type { CurrentActor } from "../access/Actor.ts"
import { UndoCreateOrderRepo } from "./UndoCreateOrderRepo.ts"

/**
 * What becomes of the promotion usage and the cart of an order that is cancelled, for the module that cancels it. Called
 * inside the caller's transaction it joins it, so that they go back together with the status, once, whoever cancels.
 */
export class UndoCreateOrder extends Context.Service<UndoCreateOrder, {
  /** Promotion usage goes back; the cart too, when the order was never paid (contract §3.6). */
  readonly undo: (orderId: string) => Effect.Effect<void, never, CurrentActor>
}>()("stoa/domain/checkout/UndoCreateOrder") {
  static readonly layer = Layer.effect(
    UndoCreateOrder,
    Effect.map(UndoCreateOrderRepo, ({ undo }) => ({ undo }))
  )
}
