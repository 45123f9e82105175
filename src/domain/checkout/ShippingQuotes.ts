import { Context, DateTime, Effect, Layer } from "effect"
import type { CurrentActor } from "../access/Actor.ts"
import { changeable } from "../carts/CartRules.ts"
import { Carts } from "../carts/Carts.ts"
import { CheckoutFailed, NotFound, type ValidationFailed } from "../errors/ApiErrors.ts"
import { ShippingPrices } from "../shipping/ShippingPrices.ts"
import { BasketRepo } from "./BasketRepo.ts"
import { CheckoutPricing } from "./CheckoutPricing.ts"
import type { ShippingQuote, ShippingQuoteRequest } from "./ShippingQuote.ts"

/** Prices the shipping of a cart before its checkout (contract §3.4). Stores nothing. */
export class ShippingQuotes extends Context.Service<ShippingQuotes, {
  /**
   * Rates that fit the cart and the address, priced after promotions as in the checkout. 404 for a cart of another
   * visitor; 422 for an inactive or empty cart, or an address without a shipping rate.
   */
  readonly quote: (
    request: ShippingQuoteRequest
  ) => Effect.Effect<ShippingQuote, NotFound | ValidationFailed | CheckoutFailed, CurrentActor>
}>()("stoa/domain/checkout/ShippingQuotes") {
  static readonly layer = Layer.effect(
    ShippingQuotes,
    Effect.gen(function*() {
      const carts = yield* Carts
      const repo = yield* BasketRepo
      const pricing = yield* CheckoutPricing
      const prices = yield* ShippingPrices

      const quote = Effect.fn("ShippingQuotes.quote")(function*(request: ShippingQuoteRequest) {
        const stored = yield* carts.get(request.cartId)
        yield* Effect.fromResult(changeable(stored, DateTime.toDateUtc(yield* DateTime.now)))
        const cart = yield* repo.ofCart(request.cartId)
        if (cart === undefined) return yield* NotFound.of("Cart not found.")
        if (cart.lines.length === 0) return yield* CheckoutFailed.of("The cart is empty.")
        const { customerId } = yield* carts.visitor
        const shipment = yield* pricing.shipmentOf(cart, request, customerId)
        const options = yield* prices.optionsOf(shipment)
        return { currency: cart.currency, rates: options.map(({ amount, id, name }) => ({ id, name, amount })) }
      })

      return { quote }
    })
  )
}
