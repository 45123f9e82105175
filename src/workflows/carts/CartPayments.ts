import { Effect } from "effect"
import type { CartChoices } from "../../domain/carts/CartChoices.ts"
import type { Warning } from "../../domain/checkout/CartTotals.ts"
import { giftCardMethod } from "../../domain/checkout/Checkout.ts"
import { payableByStoredValue, type PricedCart } from "../../domain/checkout/PricedCart.ts"
import type { PaymentAdapters } from "../../domain/payments/PaymentAdapter.ts"
import { CurrentActor } from "../../domain/platform/access/Actor.ts"
import { type CartId, newId, type OrderId } from "../../domain/platform/ids/Id.ts"
import { CurrencyCode } from "../../domain/platform/money/Money.ts"
import { offersOf } from "../checkout/CheckoutOffers.ts"
import { notByStoredValue } from "../checkout/CheckoutTenders.ts"

/** The gift cards of a cart that can be asked, and their offers. */
export const cardOffers = Effect.fnUntraced(function*(
  adapters: PaymentAdapters["Service"],
  cartId: CartId,
  currency: string,
  chosen: CartChoices["giftCards"]
) {
  const found = adapters.named(giftCardMethod)
  const cards = found === undefined ? [] : chosen.map((card) => ({ ...card, adapter: found.adapter }))
  const request = { cartId, currency: CurrencyCode.make(currency) }
  return { cards, offers: offersOf({ actor: yield* CurrentActor, checkoutId: newId<OrderId>(), request }, cards) }
})
type CardOffers = Effect.Success<ReturnType<typeof cardOffers>>

/** Asks gift cards for their part of a cart; those that cannot pay are warnings. Holds nothing. */
export const paidBy = Effect.fnUntraced(function*({ cards, offers }: CardOffers, priced: PricedCart) {
  const tenders: Array<{ method: string; label: string; amount: number }> = []
  const warnings: Array<Warning> = []
  let left = payableByStoredValue(priced)
  const refusal = left === 0 && priced.grandTotal > 0 && cards.length > 0 ? notByStoredValue(priced) : undefined
  if (refusal !== undefined) {
    warnings.push({ code: "gift_card_refused", lineId: null, message: refusal.error.message })
  }
  for (const index of offers.order()) {
    const card = cards[index]
    if (card === undefined || left === 0) break
    const offer = yield* Effect.result(offers.offer(index, priced, card, left))
    if (offer._tag === "Failure") {
      const name = card.lastFour === "" ? "A gift card" : `The gift card that ends in ${card.lastFour}`
      const message = `${name} cannot pay: ${offer.failure.error.message}`
      warnings.push({ code: "gift_card_refused", lineId: null, message })
    } else if (offer.success.amount > 0) {
      tenders.push({ method: giftCardMethod, ...offer.success })
      left -= offer.success.amount
    }
  }
  return { tenders, warnings }
})
