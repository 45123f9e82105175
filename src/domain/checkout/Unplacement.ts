import { Context, Effect, Layer } from "effect"
import type { CurrentActor } from "../access/Actor.ts"
import { UnplaceRepo } from "./UnplaceRepo.ts"

/**
 * What becomes of the promotion usage and the cart of an order that is cancelled, for the module that cancels it. Called
 * inside the caller's transaction it joins it, so that they go back together with the status, once, whoever cancels.
 */
export class Unplacement extends Context.Service<Unplacement, {
  /** Promotion usage goes back; the cart too, when the order was never paid (contract §3.6). */
  readonly giveBack: (orderId: string) => Effect.Effect<void, never, CurrentActor>
}>()("stoa/domain/checkout/Unplacement") {
  static readonly layer = Layer.effect(Unplacement, Effect.map(UnplaceRepo, ({ giveBack }) => ({ giveBack })))
}
