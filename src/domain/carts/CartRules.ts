import { Result } from "effect"
import { type Actor, holds } from "../access/Actor.ts"
import { servesGuests } from "../access/Ownership.ts"
import { NotFound, ValidationFailed } from "../errors/ApiErrors.ts"
import type { CartState } from "./Cart.ts"

/** Who wants at a cart: the actor, his own customer profile if he has one, and the hash of the secret he showed. */
export interface CartVisitor {
  readonly actor: Actor
  readonly customerId: string | null
  readonly secretHash: string | null
}

/**
 * May this visitor see or change the cart? The owner may, whoever shows its secret, staff with the permission for
 * guests' carts, and `*:*` (contract §2). Everybody else gets the answer of a cart that does not exist.
 */
export const admit = <State extends CartState>(
  state: State | undefined,
  { actor, customerId, secretHash }: CartVisitor,
  permission: "cart:read" | "cart:update"
): Result.Result<State, NotFound> => {
  if (state === undefined || state.cart.organizationId !== actor.organizationId) {
    return Result.fail(NotFound.of("Cart not found."))
  }
  const owns = state.cart.customerId !== null && state.cart.customerId === customerId
  const knows = secretHash !== null && secretHash === state.secretHash
  const serves = state.cart.customerId === null && servesGuests(actor, permission)
  return owns || knows || serves || holds(actor, "*:*")
    ? Result.succeed(state)
    : Result.fail(NotFound.of("Cart not found."))
}

/** Only an active cart that has not run out can be changed (contract §2: 422). */
export const changeable = <State extends CartState>(
  state: State,
  now: Date
): Result.Result<State, ValidationFailed> =>
  state.cart.status === "active" && state.cart.expiresAt > now
    ? Result.succeed(state)
    : Result.fail(ValidationFailed.of("", "Cart is not active.", "cart_not_active"))

/** The state after a write: the fence has moved by one. */
export const afterWrite = (state: CartState): CartState => ({ ...state, version: state.version + 1 })

/** The newer of what an actor remembers and what a message brought along; the version tells. */
export const newer = (known: CartState | undefined, seen: CartState | undefined): CartState | undefined =>
  seen !== undefined && (known === undefined || known.version < seen.version) ? seen : known
