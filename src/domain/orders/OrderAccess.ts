import { DateTime, Duration, Effect, Result } from "effect"
import { timingSafeEqual } from "node:crypto"
import { type Actor, CurrentActor, holds } from "../access/Actor.ts"
import { isOwn } from "../access/Ownership.ts"
import { hashCartSecret } from "../carts/CartSecret.ts"
import { Forbidden, NotFound } from "../errors/ApiErrors.ts"
import type { Order, StoredOrder } from "./Order.ts"

/** How long after its creation a guest can read an order with the cart secret (contract §4). */
const guestAccess = Duration.days(7)

const sameText = (left: string, right: string): boolean =>
  left.length === right.length && timingSafeEqual(new TextEncoder().encode(left), new TextEncoder().encode(right))

const isOwner = (actor: Actor, { ownerUserId }: StoredOrder): boolean => isOwn(actor, ownerUserId, "orders:read:own")

const isItsGuest = (actor: Actor, { cartSecretHash, order }: StoredOrder, now: Date): boolean =>
  order.customerId === null && cartSecretHash !== null && actor.cartSecret !== null &&
  now.getTime() - order.placedAt.getTime() <= Duration.toMillis(guestAccess) &&
  sameText(hashCartSecret(actor.cartSecret), cartSecretHash)

/**
 * Who may read an order (contract §4): callers with `orders:read`, the customer it belongs to, or a guest with the cart
 * secret within seven days. 404 if there is none, 403 if it belongs to someone else.
 */
export const readable = (
  stored: StoredOrder | undefined,
  actor: Actor,
  now: Date
): Result.Result<Order, NotFound | Forbidden> => {
  if (stored === undefined) return Result.fail(NotFound.of("Order not found."))
  return holds(actor, "orders:read") || isOwner(actor, stored) || isItsGuest(actor, stored, now)
    ? Result.succeed(stored.order)
    : Result.fail(Forbidden.of("This order belongs to somebody else."))
}

/** The same for the actor of the request, now. */
export const admitReader = (stored: StoredOrder | undefined) =>
  Effect.gen(function*() {
    const now = DateTime.toDateUtc(yield* DateTime.now)
    return yield* Effect.fromResult(readable(stored, yield* CurrentActor, now))
  })
