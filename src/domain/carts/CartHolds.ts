import { DateTime, Effect } from "effect"
import { conflict } from "../platform/errors/ErrorKinds.ts"
import { CartNotFound, type CartState, changeable } from "./Cart.ts"
import { CartRepo } from "./CartRepo.ts"

class ChangedMeanwhile
  extends conflict("CartChanged", "The cart was changed by another request. Read it and try again.")
{}

/** Holds of carts by plugins, which also take part in their transactions (contract-commerce §3). */
export const holding = Effect.map(CartRepo, (repo) => ({
  /**
   * Keeps a cart as it was read until it is freed: changes are refused with 409 and the words that name the holder. 409
   * when it has changed meanwhile or is held, 422 when it is not active.
   */
  hold: Effect.fn("Carts.hold")(function*(cart: CartState, holder: string) {
    if (yield* repo.hold(cart, holder)) return
    const now = yield* repo.state(cart.cart.id)
    if (now === undefined) return yield* new CartNotFound()
    yield* Effect.fromResult(changeable(now, DateTime.toDateUtc(yield* DateTime.now)))
    return yield* new ChangedMeanwhile()
  }),
  /** Ends the hold of a cart if `isFree` says so while no one else holds or frees it. */
  free: repo.free
}))
