import { Result } from "effect"
import { createHash, randomBytes } from "node:crypto"
import { type Actor, holds } from "../access/Actor.ts"
import { servesGuests } from "../access/Ownership.ts"
import { NotFound, ValidationFailed } from "../errors/ApiErrors.ts"
import type { CartState } from "./Cart.ts"

/** Who accesses a cart: the actor, their customer profile and the hash of the cart secret they sent. */
export interface CartVisitor {
  readonly actor: Actor
  readonly customerId: string | null
  readonly secretHash: string | null
}

/**
 * Admits the cart's owner, visitors with its secret, staff with the permission for guests' carts, and `*:*` (contract
 * §2). Others get 404, as for an unknown cart.
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
  const hasSecret = secretHash !== null && secretHash === state.secretHash
  const serves = state.cart.customerId === null && servesGuests(actor, permission)
  return owns || hasSecret || serves || holds(actor, "*:*")
    ? Result.succeed(state)
    : Result.fail(NotFound.of("Cart not found."))
}

/** Only active carts that have not expired can be changed (contract §2: 422). */
export const changeable = <State extends CartState>(
  state: State,
  now: Date
): Result.Result<State, ValidationFailed> =>
  state.cart.status === "active" && state.cart.expiresAt > now
    ? Result.succeed(state)
    : Result.fail(ValidationFailed.of("", "Cart is not active.", "cart_not_active"))

/** The state after a write. */
export const afterWrite = (state: CartState): CartState => ({ ...state, version: state.version + 1 })

/** The newer of the cached state and the state in a message. */
export const newer = (cached: CartState | undefined, sent: CartState | undefined): CartState | undefined =>
  sent !== undefined && (cached === undefined || cached.version < sent.version) ? sent : cached

/** A new cart secret: 192 random bits. It alone gives access to a guest's cart. */
export const newCartSecret = (): string => randomBytes(24).toString("base64url")

/** The stored hash of a secret: a copy of the database opens no cart. */
export const hashCartSecret = (secret: string): string => createHash("sha256").update(secret).digest("hex")
