import { Context, DateTime, Effect, Layer } from "effect"
import type { CurrentActor } from "../access/Actor.ts"
import { changeable } from "../carts/CartRules.ts"
import { Carts } from "../carts/Carts.ts"
import { CheckoutFailed, NotFound, type ValidationFailed } from "../errors/ApiErrors.ts"
import { ShippingPrices } from "../shipping/ShippingPrices.ts"
import { CartReaderRepo } from "./CartReaderRepo.ts"
import { CheckoutPricing } from "./CheckoutPricing.ts"
import type { ShippingQuote, ShippingQuoteRequest } from "./ShippingQuote.ts"

/** What shipping a cart would cost, before it is checked out (contract §3.4). Nothing is kept. */
export class ShippingQuotes extends Context.Service<ShippingQuotes, {
  /**
   * The rates that fit the cart at the address, priced as the checkout prices them: after promotions, in the same
   * statements. 404 for a cart that is not the visitor's, 422 for one that is not active, that is empty, or whose address
   * nobody serves.
   */
  readonly quote: (
    request: ShippingQuoteRequest
  ) => Effect.Effect<ShippingQuote, NotFound | ValidationFailed | CheckoutFailed, CurrentActor>
}>()("stoa/domain/checkout/ShippingQuotes") {
  static readonly layer = Layer.effect(
    ShippingQuotes,
    Effect.gen(function*() {
      const carts = yield* Carts
      const repo = yield* CartReaderRepo
      const pricing = yield* CheckoutPricing
      const prices = yield* ShippingPrices

      const quote = Effect.fn("ShippingQuotes.quote")(function*(request: ShippingQuoteRequest) {
        const stored = yield* carts.get(request.cartId)
        yield* Effect.fromResult(changeable(stored, DateTime.toDateUtc(yield* DateTime.now)))
        const cart = yield* repo.find(request.cartId)
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
