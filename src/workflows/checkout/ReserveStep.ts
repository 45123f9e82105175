import { Effect } from "effect"
import type { Decision } from "../../domain/checkout/Checkout.ts"
import { writeDecision } from "../../domain/checkout/DecisionText.ts"
import { CheckoutFailed } from "../../domain/errors/ApiErrors.ts"
import { StoreSettings } from "../../domain/settings/StoreSettings.ts"
import { StockDeskClient } from "../../entities/StockDeskClient.ts"

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
 * Holds the stock of a decision at the stock desk for its order, and pins the decision with it: an earlier one of the
 * same order wins. Whoever fails after this, or at it, releases the hold.
 */
export const reserveFor = Effect.fn("Checkout.desk")(function*(orderId: string, decision: Decision) {
  return yield* (yield* StockDeskClient).reserve({
    holder: orderId,
    lines: decision.lines.map(({ entityId, quantity, title, variantId }) => ({
      sellableId: variantId ?? entityId,
      entityId,
      quantity,
      title
    })),
    ttlSeconds: (yield* StoreSettings).holdSeconds,
    decision: yield* writeDecision(decision)
  }).pipe(Effect.mapError(stockError))
})
