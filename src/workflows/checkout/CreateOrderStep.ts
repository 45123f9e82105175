import { DateTime, Effect } from "effect"
import { CurrentActor } from "../../domain/access/Actor.ts"
import type { PricedCart } from "../../domain/checkout/Checkout.ts"
import { CreateOrderRepo } from "../../domain/checkout/CreateOrderRepo.ts"
import { pendingOrder } from "../../domain/checkout/PendingOrder.ts"
import { CheckoutFailed } from "../../domain/errors/ApiErrors.ts"
import type { Order } from "../../domain/orders/Order.ts"
import { OrderNumbers } from "../../domain/orders/OrderNumbers.ts"
import { OrderRepo } from "../../domain/orders/OrderRepo.ts"
import type { PaymentIntent } from "../../domain/payments/PaymentAdapter.ts"
import type { CheckoutPayload } from "./CheckoutWorkflow.ts"

/** The order of a checkout; its id is the checkout's, so placing it twice is impossible (contract §4). */
const orderOf = (
  { actor, checkoutId, idempotencyKey, request }: CheckoutPayload,
  pricedCart: PricedCart,
  intent: PaymentIntent,
  orderNumber: string,
  placedAt: Date
): Order =>
  pendingOrder(pricedCart, request, {
    id: checkoutId,
    organizationId: actor.organizationId,
    orderNumber,
    paymentIntentId: intent.id,
    paymentMethodId: request.paymentMethodId,
    idempotencyKey,
    placedAt,
    metadata: { cartId: request.cartId, checkoutId, paymentIntentId: intent.id }
  })

/** Step 3: order, lines, usage, stock, cart and announcement become true together, or nothing of it does. */
export const createOrder = Effect.fn("Checkout.place")(function*(
  payload: CheckoutPayload,
  pricedCart: PricedCart,
  intent: PaymentIntent,
  provider: string
) {
  const orderNumber = yield* (yield* OrderNumbers).next
  const placedAt = DateTime.toDateUtc(yield* DateTime.now)
  const order = orderOf(payload, pricedCart, intent, orderNumber, placedAt)
  const created = yield* (yield* CreateOrderRepo).create({
    order,
    pricedCart,
    cartId: payload.request.cartId,
    idempotencyKey: payload.idempotencyKey,
    provider
  })
  if (created === "reservation-expired") {
    return yield* CheckoutFailed.of("The reservation of the items has run out. Try again.")
  }
  // The other run's order has a number and a time of its own.
  return created === "exists" ? (yield* (yield* OrderRepo).find(order.id))?.order ?? order : order
}, (effect, payload) => Effect.provideService(effect, CurrentActor, payload.actor))
