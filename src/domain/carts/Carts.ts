import { Context, DateTime, Duration, Effect, Layer } from "effect"
import { CurrentActor } from "../access/Actor.ts"
import { actsForShop } from "../access/Ownership.ts"
import { Customers } from "../customers/Customers.ts"
import { newId } from "../ids/Id.ts"
import { StoreSettings } from "../settings/StoreSettings.ts"
import type { NewCart, StoredCart } from "./Cart.ts"
import { CartRepo } from "./CartRepo.ts"
import { admit, changeable, hashCartSecret, newCartSecret } from "./CartRules.ts"

/** Creates and reads carts (contract §2). */
export class Carts extends Context.Service<Carts>()("stoa/domain/carts/Carts", {
  make: Effect.gen(function*() {
    const repo = yield* CartRepo
    const customers = yield* Customers
    const settings = yield* StoreSettings

    /** The visitor of the current request. */
    const visitor = Effect.gen(function*() {
      const actor = yield* CurrentActor
      return {
        actor,
        customerId: yield* customers.ownProfileId,
        secretHash: actor.cartSecret === null ? null : hashCartSecret(actor.cartSecret)
      }
    })

    /** Creates a cart. Staff may name its customer; for a shopper it is always their profile. */
    const create = Effect.fn("Carts.create")(function*(input: NewCart) {
      const actor = yield* CurrentActor
      const named = actsForShop(actor) ? input.customerId ?? null : null
      if (named !== null) yield* customers.mustExist(named)
      const customerId = named ?? (actsForShop(actor) ? null : yield* customers.ownProfileId)
      const now = yield* DateTime.now
      const expiresAt = DateTime.addDuration(now, Duration.minutes(settings.cartTtlMinutes))
      const secret = newCartSecret()
      const cart = {
        id: newId(),
        organizationId: actor.organizationId,
        customerId,
        status: "active",
        currency: input.currency,
        email: input.email ?? null,
        metadata: {},
        expiresAt: DateTime.toDateUtc(expiresAt),
        createdAt: DateTime.toDateUtc(now),
        updatedAt: DateTime.toDateUtc(now)
      } as const
      yield* repo.insert({ cart, secretHash: hashCartSecret(secret), version: 0 })
      return { ...cart, secret }
    })

    const admitted = Effect.fnUntraced(
      function*(cart: StoredCart | undefined, permission: "cart:read" | "cart:update") {
        return yield* Effect.fromResult(admit(cart, yield* visitor, permission))
      }
    )

    /**
     * A cart to change, with the line to change or none (null). 404 for visitors who may not change it, 422 when it is
     * not active or has expired.
     */
    const toChange = Effect.fn("Carts.toChange")(function*(cartId: string, lineId: string | null) {
      const cart = yield* admitted(yield* repo.findWithLine(cartId, lineId), "cart:update")
      return yield* Effect.fromResult(changeable(cart, DateTime.toDateUtc(yield* DateTime.now)))
    })

    /** A cart with its lines; 404 also for visitors who may not read it. */
    const get = Effect.fn("Carts.get")(function*(cartId: string) {
      const cart = yield* admitted(yield* repo.find(cartId), "cart:read")
      const now = DateTime.toDateUtc(yield* DateTime.now)
      // An expired active cart reads as abandoned before the scheduled job marks it (contract §2).
      return cart.cart.status === "active" && cart.cart.expiresAt <= now
        ? { ...cart, cart: { ...cart.cart, status: "abandoned" as const } }
        : cart
    })

    return { create, get, toChange, visitor }
  })
}) {
  static readonly layer = Layer.effect(Carts, Carts.make)
}
