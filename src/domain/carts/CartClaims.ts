import { DateTime, Effect } from "effect"
import { Customers } from "../customers/Customers.ts"
import { CurrentActor } from "../platform/access/Actor.ts"
import { conflict } from "../platform/errors/ErrorKinds.ts"
import type { CartId } from "../platform/ids/Id.ts"
import { StoreSettings } from "../platform/settings/StoreSettings.ts"
import { CartNotFound, changeable, hashCartSecret, type StoredCart } from "./Cart.ts"
import { mergedLines } from "./CartClaimStatements.ts"
import { CartRepo } from "./CartRepo.ts"

class CartOfAnother extends conflict("CartOfAnother", "The cart belongs to another customer. Open a new cart.") {}
class ClaimBusy
  extends conflict("ClaimBusy", "The cart is being changed by another request. Try again.", { retryable: true })
{}

/** Each lost attempt means that one of the carts was changed meanwhile. */
const maxAttempts = 10

/**
 * Gives a guest's cart to the customer who is signed in and shows its secret; their other active cart is merged into it
 * (contract-commerce §3). Both carts change in one statement: no crash and no other claim leaves units in both.
 */
export const claiming = Effect.gen(function*() {
  const [repo, customers, { cartMaxLines }] = yield* Effect.all([CartRepo, Customers, StoreSettings])

  const fits = (cart: StoredCart, other: StoredCart | undefined) =>
    cart.lines.length + mergedLines(cart, other).added.length <= cartMaxLines

  return Effect.fn("Carts.claim")(function*(cartId: CartId) {
    const { cartSecret } = yield* CurrentActor
    const own = (yield* customers.ownProfile).id
    for (let attempt = 0; attempt < maxAttempts; attempt++) {
      const found = yield* repo.find(cartId)
      if (found?.cart.customerId === own) return "owned" as const
      if (found === undefined || cartSecret === null || hashCartSecret(cartSecret) !== found.secretHash) {
        return yield* new CartNotFound()
      }
      if (found.cart.customerId !== null) return yield* new CartOfAnother()
      const now = DateTime.toDateUtc(yield* DateTime.now)
      const cart = yield* Effect.fromResult(changeable(found, now))
      const other = yield* repo.activeOf(own, cart.cart.currency, now)
      const merged = fits(cart, other) ? other : undefined
      const outcome = yield* repo.claim(cart, merged, own)
      if (outcome === "claimed") return merged === undefined ? "claimed" as const : "merged" as const
    }
    return yield* new ClaimBusy()
  })
})
