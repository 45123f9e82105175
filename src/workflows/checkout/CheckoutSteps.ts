import { DateTime, Effect } from "effect"
import { CurrentActor } from "../../domain/access/Actor.ts"
import { encodePricedCart, type PricedCart } from "../../domain/checkout/Checkout.ts"
import { type ClaimedCart, ClaimRepo } from "../../domain/checkout/ClaimRepo.ts"
import { CreateOrderRepo } from "../../domain/checkout/CreateOrderRepo.ts"
import { pendingOrder } from "../../domain/checkout/PendingOrder.ts"
import { CheckoutFailed, NotFound } from "../../domain/errors/ApiErrors.ts"
import { OrderNumbers } from "../../domain/orders/OrderNumbers.ts"
import { OrderRepo } from "../../domain/orders/OrderRepo.ts"
import type { PaymentIntent } from "../../domain/payments/PaymentAdapter.ts"
import { StoreSettings } from "../../domain/settings/StoreSettings.ts"
import { StockClient } from "../../entities/StockClient.ts"
import type { CheckoutPayload } from "./CheckoutWorkflow.ts"

/** Retries of a claim when the cart changed while it was read. */
const maxRetries = 5

const refusal = (cart: ClaimedCart, currency: string): CheckoutFailed | NotFound => {
  if (!cart.admitted) return NotFound.of("Cart not found.")
  if (cart.lines.length === 0) return CheckoutFailed.of("The cart is empty.")
  if (cart.currency !== currency) {
    return CheckoutFailed.of(`The cart's currency is ${cart.currency}, not ${currency}.`)
  }
  if (cart.status === "active" && cart.expired) return CheckoutFailed.of("The cart has expired.")
  return CheckoutFailed.of(`The cart is not available for checkout: it is ${cart.status.replace("_", " ")}.`)
}

/** Claims the cart for this checkout until the checkout ends (contract §3.2, 0b and 1). */
export const claimCart = Effect.fn("Checkout.claim")(function*(payload: CheckoutPayload) {
  const claims = yield* ClaimRepo
  const { actor, checkoutId, customerId, request, secretHash } = payload
  for (let retry = 0;; retry++) {
    const cart = yield* claims.claim(request.cartId, checkoutId, { actor, customerId, secretHash }, request.currency)
    if (cart === undefined) return yield* NotFound.of("Cart not found.")
    if (cart.claimed || cart.ordered) return cart
    const changed = cart.ours || cart.admitted && cart.status === "active" && !cart.expired && cart.lines.length > 0 &&
        cart.currency === request.currency
    if (!changed || retry === maxRetries) return yield* refusal(cart, request.currency)
  }
})

const reservationExpired = CheckoutFailed.of("The reservation of the items has run out. Try again.")

const stockError = (
  error: { readonly _tag: string; readonly title?: string; readonly available?: number; readonly requested?: number }
) =>
  error._tag === "StockShort"
    ? CheckoutFailed.of(
      `Insufficient stock for ${error.title}. Available: ${error.available}, requested: ${error.requested}.`
    )
    : error._tag === "HoldGone"
    ? reservationExpired
    : CheckoutFailed.of("The items could not be reserved in time. Try again.")

/**
 * Reserves the stock of a priced cart and stores the priced cart with the reservation; one stored earlier for the same
 * order wins. The caller releases the reservation when this or a later step fails.
 */
export const reserveFor = Effect.fn("Checkout.reserveStock")(function*(orderId: string, pricedCart: PricedCart) {
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

/**
 * Creates the order with its usage, stock, cart and event in one transaction. The order has the checkout's id, so it
 * cannot be created twice (contract §4).
 */
export const createOrder = Effect.fn("Checkout.create")(
  function*(
    { actor, checkoutId, idempotencyKey, request }: CheckoutPayload,
    pricedCart: PricedCart,
    intent: PaymentIntent,
    provider: string
  ) {
    const order = pendingOrder(pricedCart, request, {
      id: checkoutId,
      organizationId: actor.organizationId,
      orderNumber: yield* (yield* OrderNumbers).next,
      paymentIntentId: intent.id,
      paymentMethodId: request.paymentMethodId,
      idempotencyKey,
      placedAt: DateTime.toDateUtc(yield* DateTime.now),
      metadata: { cartId: request.cartId, checkoutId, paymentIntentId: intent.id }
    })
    const created = yield* (yield* CreateOrderRepo).create({
      order,
      pricedCart,
      cartId: request.cartId,
      idempotencyKey,
      provider
    })
    if (created === "reservation-expired") return yield* reservationExpired
    // An order of another run has its number and time.
    return created === "exists" ? (yield* (yield* OrderRepo).find(order.id))?.order ?? order : order
  },
  (effect, payload) => Effect.provideService(effect, CurrentActor, payload.actor)
)
