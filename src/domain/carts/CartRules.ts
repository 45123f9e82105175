import { Result } from "effect"
import { Forbidden, NotFound, ValidationFailed } from "../errors/ApiErrors.ts"
import { type Actor, holds } from "../access/Actor.ts"
import { isStaffLike } from "../access/Role.ts"
import type { CartLine, CartState } from "./Cart.ts"

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
export const admit = (
  state: CartState | undefined,
  { actor, customerId, secretHash }: CartVisitor,
  permission: "cart:read" | "cart:update"
): Result.Result<CartState, NotFound | Forbidden> => {
  if (state === undefined || state.cart.organizationId !== actor.organizationId) {
    return Result.fail(NotFound.of("Cart not found."))
  }
  const owns = state.cart.customerId !== null && state.cart.customerId === customerId
  const knows = secretHash !== null && secretHash === state.secretHash
  const serves = state.cart.customerId === null && isStaffLike(actor.role) && holds(actor, permission)
  return owns || knows || serves || holds(actor, "*:*")
    ? Result.succeed(state)
    : Result.fail(NotFound.of("Cart not found."))
}

/** Only an active cart that has not run out can be changed (contract §2: 422). */
export const changeable = (state: CartState, now: Date): Result.Result<CartState, ValidationFailed> =>
  state.cart.status === "active" && state.cart.expiresAt > now
    ? Result.succeed(state)
    : Result.fail(ValidationFailed.of("", "Cart is not active.", "cart_not_active"))

/** A line to be added, with everything looked up. */
export type LineToAdd = Omit<CartLine, "cartId" | "notes" | "metadata" | "currency">

/** The state after an add: the same sellable again raises the quantity of its line, and takes the newer price. */
export const withAdded = (state: CartState, add: LineToAdd): { readonly state: CartState; readonly line: CartLine } => {
  const known = state.lines.find((line) => line.entityId === add.entityId && line.variantId === add.variantId)
  const line: CartLine = known === undefined
    ? { ...add, cartId: state.cart.id, currency: state.cart.currency, notes: null, metadata: {} }
    : { ...known, quantity: known.quantity + add.quantity, unitPriceSnapshot: add.unitPriceSnapshot }
  const lines = known === undefined ? [...state.lines, line] : state.lines.map((one) => (one === known ? line : one))
  return { state: moved(state, lines), line }
}

/** The state after a line's quantity was set; undefined when the cart has no such line. */
export const withQuantity = (state: CartState, lineId: string, quantity: number) => {
  const known = state.lines.find((line) => line.id === lineId)
  if (known === undefined) return undefined
  const line: CartLine = { ...known, quantity }
  return { state: moved(state, state.lines.map((one) => (one === known ? line : one))), line }
}

/** The state without a line; undefined when the cart has no such line. */
export const without = (state: CartState, lineId: string) => {
  const line = state.lines.find((one) => one.id === lineId)
  return line === undefined ? undefined : { state: moved(state, state.lines.filter((one) => one !== line)), line }
}

const moved = (state: CartState, lines: ReadonlyArray<CartLine>): CartState => ({
  ...state,
  lines,
  version: state.version + 1
})
