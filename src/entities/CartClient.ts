import { Context, DateTime, Effect, Layer } from "effect"
import type { CurrentActor } from "../domain/access/Actor.ts"
import type { CartLine, NewCartLine } from "../domain/carts/Cart.ts"
import { admit, changeable } from "../domain/carts/CartRules.ts"
import { Carts } from "../domain/carts/Carts.ts"
import { OfferRepo } from "../domain/carts/OfferRepo.ts"
import type { Conflict, Unavailable } from "../domain/errors/ApiErrors.ts"
import { NotFound, ValidationFailed } from "../domain/errors/ApiErrors.ts"
import { Hooks } from "../domain/hooks/Hooks.ts"
import { newId } from "../domain/ids/Id.ts"
import { Prices } from "../domain/pricing/Prices.ts"
import { CartEntity } from "./CartEntity.ts"
import { call, deadline } from "./EntityCall.ts"

export type CartChangeError = NotFound | ValidationFailed | Conflict | Unavailable

/**
 * Changes to carts: everything is looked up and the hooks are asked before the cart's actor is, so that its turn is
 * one rule and one statement (contract §2).
 */
export class CartClient extends Context.Service<CartClient, {
  /** Adds a line at the price the store resolves now for the cart's customer; 404 for what cannot be sold to this actor. */
  readonly addItem: (cartId: string, item: NewCartLine) => Effect.Effect<CartLine, CartChangeError, CurrentActor>
  /** Sets a line's quantity, 1 to 9999. */
  readonly setQuantity: (
    cartId: string,
    lineId: string,
    quantity: number
  ) => Effect.Effect<CartLine, CartChangeError, CurrentActor>
  /** Takes a line out of the cart. */
  readonly removeItem: (cartId: string, lineId: string) => Effect.Effect<void, CartChangeError, CurrentActor>
}>()("stoa/entities/CartClient") {
  static readonly layer = Layer.effect(
    CartClient,
    Effect.gen(function*() {
      const clientOf = yield* CartEntity.client
      // Ids are compared as text by the cluster: one cart has one actor whatever the case of its id.
      const actorOf = (cartId: string) => clientOf(cartId.toLowerCase())
      const carts = yield* Carts
      const offers = yield* OfferRepo
      const prices = yield* Prices
      const hooks = yield* Hooks

      /** Whose message it is and until when it is wanted; said last, so that no hook uses up the actor's time. */
      const visit = Effect.gen(function*() {
        return { ...yield* carts.visitor, until: yield* deadline }
      })

      const addItem = Effect.fn("CartClient.addItem")(function*(cartId: string, sent: NewCartLine) {
        // A hook is code of the deployment's own: it hears of no cart that its visitor may not change.
        if (hooks.has("cart.beforeAddItem")) yield* carts.toChange(cartId, null)
        const item = yield* hooks.before("cart.beforeAddItem", { ...sent, cartId })
        const variantId = item.variantId ?? null
        const who = yield* visit
        const addedAt = DateTime.toDateUtc(yield* DateTime.now)
        // Refused here already, so that what is not his to change costs the cart's actor no turn.
        const [offer, priceIn] = yield* Effect.all([
          offers.find(cartId, item.entityId, variantId),
          prices.offerIn(cartId, { entityId: item.entityId, variantId, quantity: item.quantity })
        ], { concurrency: "unbounded" })
        const admitted = yield* Effect.fromResult(admit(offer?.cart, who, "cart:update"))
        const seen = yield* Effect.fromResult(changeable(admitted, addedAt))
        // Only now: what is wrong with the thing would tell a stranger that the cart exists.
        if (offer?.refusal) return yield* Effect.fail(offer.refusal)
        const unitPriceSnapshot = priceIn(seen.cart.currency, offer?.groups ?? []) ?? item.unitPriceSnapshot
        if (unitPriceSnapshot === undefined) {
          return yield* ValidationFailed.of(
            "unitPriceSnapshot",
            "This item has no price in the cart's currency.",
            "no_price"
          )
        }
        const line = yield* call(
          actorOf(cartId).addLine({
            ...who,
            seen,
            line: {
              id: newId(),
              entityId: item.entityId,
              variantId,
              quantity: item.quantity,
              unitPriceSnapshot,
              addedAt
            }
          })
        )
        yield* hooks.after("cart.afterAddItem", line, item)
        return line
      })

      /**
       * The cart and one of its lines, for who may change them. Actors are for those alone: whoever could wake one with
       * an invented id could fill the places that a runner has for them.
       */
      const found = Effect.fnUntraced(function*(cartId: string, itemId: string) {
        const { lines: [line], ...seen } = yield* carts.toChange(cartId, itemId)
        return line === undefined ? yield* NotFound.of("Cart item not found.") : { line, seen }
      })

      const setQuantity = Effect.fn("CartClient.setQuantity")(function*(cartId: string, itemId: string, sent: number) {
        const { line: old, seen } = yield* found(cartId, itemId)
        const { quantity } = yield* hooks.before("cart.beforeUpdateQuantity", { cartId, itemId, quantity: sent })
        const line = yield* call(actorOf(cartId).setQuantity({ ...yield* visit, seen, lineId: itemId, quantity }))
        yield* hooks.after("cart.afterUpdateQuantity", line, old)
        return line
      })

      const removeItem = Effect.fn("CartClient.removeItem")(function*(cartId: string, itemId: string) {
        const { line: there, seen } = yield* found(cartId, itemId)
        yield* hooks.before("cart.beforeRemoveItem", there)
        const line = yield* call(actorOf(cartId).removeLine({ ...yield* visit, seen, lineId: itemId }))
        yield* hooks.after("cart.afterRemoveItem", line, there)
      })

      return { addItem, setQuantity, removeItem }
    })
  )
}
