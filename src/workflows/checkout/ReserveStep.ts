import { Effect } from "effect"
import type { PricedCart } from "../../domain/checkout/Checkout.ts"
import { encodePricedCart } from "../../domain/checkout/PricedCartCodec.ts"
import { CheckoutFailed } from "../../domain/errors/ApiErrors.ts"
import { StoreSettings } from "../../domain/settings/StoreSettings.ts"
import { StockClient } from "../../entities/StockClient.ts"

const stockError = (
  error: { readonly _tag: string; readonly title?: string; readonly available?: number; readonly requested?: number }
) =>
  CheckoutFailed.of(
    error._tag === "StockShort"
      ? `Insufficient stock for ${error.title}. Available: ${error.available}, requested: ${error.requested}.`
      : error._tag === "HoldGone"
      ? "The reservation of the items has run out. Try again."
      : "The items could not be reserved in time. Try again."
  )

/**
 * Holds the stock of a priced cart at the stock desk for its order, and pins the priced cart with it: an earlier one of the
 * same order wins. Whoever fails after this, or at it, releases the hold.
 */
export const reserveFor = Effect.fn("Checkout.desk")(function*(orderId: string, pricedCart: PricedCart) {
  return yield* (yield* StockClient).reserve({
    holder: orderId,
    lines: pricedCart.lines.map(({ entityId, quantity, title, variantId }) => ({
      sellableId: variantId ?? entityId,
      entityId,
      quantity,
      title
    })),
    ttlSeconds: (yield* StoreSettings).holdSeconds,
    pricing: yield* encodePricedCart(pricedCart)
  }).pipe(Effect.mapError(stockError))
})
