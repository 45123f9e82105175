import { Context, Effect, Layer, Struct } from "effect"
import type { CurrentActor } from "../access/Actor.ts"
import { CheckoutFailed, ValidationFailed } from "../errors/ApiErrors.ts"
import type { Basket } from "./Basket.ts"
import { type BasketError, Baskets } from "./Baskets.ts"
import { type PricedCart, totalsOf } from "./Checkout.ts"
import { CheckoutPricing } from "./CheckoutPricing.ts"
import type { Quote, QuoteRequest } from "./ManualOrder.ts"
import { appliedIn } from "./PendingOrder.ts"

/** Prices lines as if they were bought now (contract §3.8). */
export class Quotes extends Context.Service<Quotes, {
  /**
   * Prices the lines, or those of a cart, exactly as a checkout does. Writes nothing and ignores stock. Fails with 422
   * CHECKOUT_FAILED where the checkout's pricing would fail.
   */
  readonly quote: (request: QuoteRequest) => Effect.Effect<Quote, BasketError | CheckoutFailed, CurrentActor>
}>()("stoa/domain/checkout/Quotes") {
  static readonly layer = Layer.effect(
    Quotes,
    Effect.gen(function*() {
      const baskets = yield* Baskets
      const pricing = yield* CheckoutPricing

      const basketOf = Effect.fnUntraced(function*({ cartId, currency, lineItems }: QuoteRequest) {
        if ((cartId === undefined) === (lineItems === undefined)) {
          return yield* ValidationFailed.of("lineItems", "send either lineItems or a cartId", "required")
        }
        if (cartId === undefined) return basketWithout(currency, yield* baskets.ofLines(lineItems ?? []))
        const cart = yield* baskets.ofCart(cartId)
        return cart.currency === currency
          ? cart
          : yield* CheckoutFailed.of(`The cart's currency is ${cart.currency}, not ${currency}.`)
      })

      const quote = Effect.fn("Quotes.quote")(function*(request: QuoteRequest) {
        return quoteOf(yield* pricing.price(yield* basketOf(request), request, null))
      })

      return { quote }
    })
  )
}

/** A basket without a cart; the request names its customer. */
export const basketWithout = (
  currency: string,
  lines: Basket["lines"],
  email: string | null = null
): Basket => ({
  email,
  currency,
  customerId: null,
  customerGroupIds: [],
  secretHash: "",
  lines
})

const quoteOf = (pricedCart: PricedCart): Quote => ({
  currency: pricedCart.currency,
  ...totalsOf(pricedCart),
  lineItems: pricedCart.lines.map(({ isCustomPrice = false, ...line }) => ({
    ...Struct.omit(line, ["id", "basePriceId", "priceSteps", "manualDiscount"]),
    isCustomPrice
  })),
  appliedPromotions: appliedIn(pricedCart),
  rejectedPromotionCodes: pricedCart.rejectedCodes
})
