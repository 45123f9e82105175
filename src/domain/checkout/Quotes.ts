import { Context, Effect, Layer } from "effect"
import type { CurrentActor } from "../access/Actor.ts"
import { CheckoutFailed, ValidationFailed } from "../errors/ApiErrors.ts"
import type { Basket } from "./Basket.ts"
import { type BasketError, Baskets } from "./Baskets.ts"
import type { PricedCart } from "./Checkout.ts"
import { CheckoutPricing } from "./CheckoutPricing.ts"
import type { Quote, QuoteRequest } from "./ManualOrder.ts"

/** What lines would cost if they were bought now (contract §3.8). */
export class Quotes extends Context.Service<Quotes, {
  /**
   * Prices the lines, or those of a cart, with the same steps as a checkout and to the same unit. Nothing is written and
   * no stock is looked at. 422 CHECKOUT_FAILED where a checkout would fail at its prices.
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

/** Lines of nobody's cart; whose order it is, the request says. */
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
  subtotal: pricedCart.subtotal,
  discountTotal: pricedCart.discountTotal,
  shippingTotal: pricedCart.shippingTotal,
  taxTotal: pricedCart.taxTotal,
  taxIncluded: pricedCart.taxIncluded ?? false,
  grandTotal: pricedCart.grandTotal,
  lineItems: pricedCart.lines.map(({ isCustomPrice = false, ...line }) => ({
    entityId: line.entityId,
    entityType: line.entityType,
    variantId: line.variantId,
    sku: line.sku,
    title: line.title,
    quantity: line.quantity,
    unitPrice: line.unitPrice,
    totalPrice: line.totalPrice,
    discountAmount: line.discountAmount,
    taxAmount: line.taxAmount,
    isCustomPrice
  })),
  appliedPromotions: pricedCart.promotions.map(({ perCustomer: _, ...applied }) => applied),
  rejectedPromotionCodes: pricedCart.rejectedCodes
})
