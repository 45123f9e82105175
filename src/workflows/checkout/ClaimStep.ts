import { Effect } from "effect"
import { type ClaimedCart, ClaimRepo } from "../../domain/checkout/ClaimRepo.ts"
import { CheckoutFailed, NotFound } from "../../domain/errors/ApiErrors.ts"
import type { CheckoutPayload } from "./CheckoutWorkflow.ts"

/** How often a claim is tried anew because the cart moved while it was being read: a line, or a run beside this one. */
const rounds = 5

const refusal = (cart: ClaimedCart, currency: string): CheckoutFailed | NotFound => {
  if (!cart.admitted) return NotFound.of("Cart not found.")
  if (cart.lines.length === 0) return CheckoutFailed.of("The cart is empty.")
  if (cart.currency !== currency) {
    return CheckoutFailed.of(`The cart's currency is ${cart.currency}, not ${currency}.`)
  }
  if (cart.status === "active" && cart.expired) return CheckoutFailed.of("The cart has expired.")
  return CheckoutFailed.of(`The cart is not available for checkout: it is ${cart.status.replace("_", " ")}.`)
}

/** Step 1: the cart is this checkout's and nobody else's until the checkout has ended (contract §3.2, 0b and 1). */
export const claimCart = Effect.fn("Checkout.claim")(function*(payload: CheckoutPayload) {
  const claims = yield* ClaimRepo
  const { actor, checkoutId, customerId, request, secretHash } = payload
  for (let round = 0;; round++) {
    const cart = yield* claims.claim(request.cartId, checkoutId, { actor, customerId, secretHash }, request.currency)
    if (cart === undefined) return yield* NotFound.of("Cart not found.")
    if (cart.claimed || cart.ordered) return cart
    const moved = cart.ours || cart.admitted && cart.status === "active" && !cart.expired && cart.lines.length > 0 &&
        cart.currency === request.currency
    if (!moved || round === rounds) return yield* refusal(cart, request.currency)
  }
})
