import { Context, DateTime, Effect, Layer } from "effect"
import type { NewCartLine } from "../domain/carts/Cart.ts"
import { admit, changeable } from "../domain/carts/CartRules.ts"
import { Carts } from "../domain/carts/Carts.ts"
import { OfferRepo } from "../domain/carts/OfferRepo.ts"
import { NotFound, ValidationFailed } from "../domain/errors/ApiErrors.ts"
import { Hooks } from "../domain/hooks/Hooks.ts"
import { newId } from "../domain/ids/Id.ts"
import { Prices } from "../domain/pricing/Prices.ts"
import { CartEntity } from "./CartEntity.ts"
import { call, deadline } from "./EntityCall.ts"

/**
 * Changes carts. It reads and runs hooks before it calls the cart's entity, whose turn is one rule and one statement
 * (contract §2).
 */
export class CartClient extends Context.Service<CartClient>()("stoa/entities/CartClient", {
  make: Effect.gen(function*() {
    const clientOf = yield* CartEntity.client
    // The cluster compares ids as text, so normalize the case: a cart must have one entity.
    const entityOf = (cartId: string) => clientOf(cartId.toLowerCase())
    const carts = yield* Carts
    const offers = yield* OfferRepo
    const prices = yield* Prices
    const hooks = yield* Hooks

    /** The visitor and the deadline of a message; computed last, so that hooks do not use up the entity's time. */
    const envelope = Effect.gen(function*() {
      return { ...yield* carts.visitor, until: yield* deadline }
    })

    /** Adds a line at the current price for the cart's customer; 404 for an entity that this actor cannot buy. */
    const addItem = Effect.fn("CartClient.addItem")(function*(cartId: string, sent: NewCartLine) {
      // Hooks must not run for visitors who may not change the cart.
      if (hooks.has("cart.beforeAddItem")) yield* carts.toChange(cartId, null)
      const item = yield* hooks.before("cart.beforeAddItem", { ...sent, cartId })
      const variantId = item.variantId ?? null
      const sender = yield* envelope
      const addedAt = DateTime.toDateUtc(yield* DateTime.now)
      // Refuse here already, so that a refusal costs no turn of the entity.
      const [offer, priceIn] = yield* Effect.all([
        offers.find(cartId, item.entityId, variantId),
        prices.offerIn(cartId, { entityId: item.entityId, variantId, quantity: item.quantity })
      ], { concurrency: "unbounded" })
      const admitted = yield* Effect.fromResult(admit(offer?.cart, sender, "cart:update"))
      const seen = yield* Effect.fromResult(changeable(admitted, addedAt))
      // Only after the admission: this error would reveal that the cart exists.
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
        entityOf(cartId).addLine({
          ...sender,
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

    /** A cart and its line, for visitors who may change them. Invented ids must not start entities. */
    const findLine = Effect.fnUntraced(function*(cartId: string, itemId: string) {
      const { lines: [line], ...seen } = yield* carts.toChange(cartId, itemId)
      return line === undefined ? yield* NotFound.of("Cart item not found.") : { line, seen }
    })

    /** Sets a line's quantity, 1 to 9999. */
    const setQuantity = Effect.fn("CartClient.setQuantity")(function*(cartId: string, itemId: string, sent: number) {
      const { line: before, seen } = yield* findLine(cartId, itemId)
      const { quantity } = yield* hooks.before("cart.beforeUpdateQuantity", { cartId, itemId, quantity: sent })
      const line = yield* call(entityOf(cartId).setQuantity({ ...yield* envelope, seen, lineId: itemId, quantity }))
      yield* hooks.after("cart.afterUpdateQuantity", line, before)
      return line
    })

    const removeItem = Effect.fn("CartClient.removeItem")(function*(cartId: string, itemId: string) {
      const { line: before, seen } = yield* findLine(cartId, itemId)
      yield* hooks.before("cart.beforeRemoveItem", before)
      const line = yield* call(entityOf(cartId).removeLine({ ...yield* envelope, seen, lineId: itemId }))
      yield* hooks.after("cart.afterRemoveItem", line, before)
    })

    return { addItem, setQuantity, removeItem }
  })
}) {
  static readonly layer = Layer.effect(CartClient, CartClient.make)
}
