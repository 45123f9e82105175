import { Effect, Result } from "effect"
import { CurrentActor } from "../../domain/access/Actor.ts"
import { CheckoutPricing } from "../../domain/checkout/CheckoutPricing.ts"
import { type ClaimedCart, ClaimRepo } from "../../domain/checkout/ClaimRepo.ts"
import { CreateOrderRepo } from "../../domain/checkout/CreateOrderRepo.ts"
import { decodePricedCart } from "../../domain/checkout/PricedCartCodec.ts"
import { CheckoutFailed } from "../../domain/errors/ApiErrors.ts"
import { Fulfillments } from "../../domain/fulfillment/Fulfillments.ts"
import { ReservationRepo } from "../../domain/inventory/ReservationRepo.ts"
import type { Order } from "../../domain/orders/Order.ts"
import { OrderRepo } from "../../domain/orders/OrderRepo.ts"
import { UnconfirmedOrderRepo } from "../../domain/orders/UnconfirmedOrderRepo.ts"
import type { PaymentIntent } from "../../domain/payments/PaymentAdapter.ts"
import { StoreSettings } from "../../domain/settings/StoreSettings.ts"
import { afterCheckout, afterOrder, beforeCreate, beforePayment } from "./CheckoutHooks.ts"
import { counted } from "./CheckoutMetrics.ts"
import { type CheckoutPayload, type CheckoutResult, CheckoutWorkflow } from "./CheckoutWorkflow.ts"
import { claimCart } from "./ClaimStep.ts"
import { cancelOrder, releaseCheckout, voidEarlier } from "./Compensation.ts"
import { createOrder } from "./CreateOrderStep.ts"
import { passing } from "./FaultPoint.ts"
import {
  authorizationFailed,
  authorize,
  capture,
  clientSecretOf,
  paymentOf,
  providerOf,
  voidPayment,
  voidUnknown
} from "./PaymentStep.ts"
import { reserveFor } from "./ReserveStep.ts"

/** Decides, asks the hooks, and pins the priced cart with the stock: an earlier run's priced cart wins over this one. */
const priceAndReserve = Effect.fn("Checkout.reserve")(function*(payload: CheckoutPayload, cart: ClaimedCart) {
  const { checkoutId, request } = payload
  const decided = yield* (yield* CheckoutPricing).price(cart, request, payload.customerId)
  const allowed = yield* beforePayment(payload, decided)
  const pricedCart = { ...allowed, paymentProvider: yield* providerOf(payload) }
  const reserved = yield* reserveFor(checkoutId, pricedCart)
  return reserved.fresh ? pricedCart : yield* decodePricedCart(reserved.pricing)
})

/** The order of a checkout, for what undoes it. */
const orderOf = ({ checkoutId, request }: CheckoutPayload) => ({ orderId: checkoutId, cartId: request.cartId })

/** Steps 4 and 5: take the money, write it down, hand over what is digital; whatever fails before that now takes the order back that was placed. */
const captureAndSettle = Effect.fn("Checkout.capture")(function*(
  payload: CheckoutPayload,
  order: Order,
  payment: Effect.Success<ReturnType<typeof paymentOf>>,
  intentId: string
) {
  const { adapter, request } = payment
  const undoPayment = voidPayment(adapter, request, intentId)
  const captured = yield* Effect.result(capture(adapter, request, intentId))
  if (Result.isFailure(captured)) {
    return (yield* cancelOrder(orderOf(payload), undoPayment)) ?? (yield* captured.failure)
  }
  yield* passing("captured")
  const settled = yield* (yield* CreateOrderRepo).settle(order.id, intentId, captured.success.amountCaptured)
  if (settled === undefined) {
    yield* cancelOrder(orderOf(payload), undoPayment)
    return yield* CheckoutFailed.of("The order was cancelled while it was being paid.")
  }
  yield* passing("settled")
  return yield* (yield* Fulfillments).deliver({ ...order, ...settled })
})

/** The provider wants the shopper to act first: the order waits for him, but not for ever. */
const awaitShopper = Effect.fn("Checkout.awaitShopper")(function*(order: Order) {
  yield* (yield* UnconfirmedOrderRepo).awaitPayment(order.id, (yield* StoreSettings).confirmationMinutes * 60)
  return order
})

/** The shopper acts first, or an operator captures later; else the money is taken now. Nothing to pay is taken at once. */
const pay = Effect.fn("Checkout.pay")(function*(
  payload: CheckoutPayload,
  order: Order,
  payment: Effect.Success<ReturnType<typeof paymentOf>>,
  { status }: Pick<PaymentIntent, "status">,
  intentId: string
) {
  if (status === "requires_action") return yield* awaitShopper(order)
  const later = (yield* StoreSettings).capture === "manual" && status === "requires_capture" && order.grandTotal > 0
  return later ? order : yield* captureAndSettle(payload, order, payment, intentId)
})

/** The codes that were refused when the checkout was decided, for a run that finds the priced cart made. */
const rejectedCodes = Effect.fn("Checkout.rejectedCodes")(function*({ checkoutId }: CheckoutPayload) {
  const [hold] = yield* (yield* ReservationRepo).holds([checkoutId])
  return hold === undefined || hold.pricing === "null" ? [] : (yield* decodePricedCart(hold.pricing)).rejectedCodes
})

/** An earlier run placed the order and died: what is left is to take the money, or to finish undoing. */
const resume = Effect.fn("Checkout.resume")(function*(payload: CheckoutPayload) {
  const stored = yield* (yield* OrderRepo).find(payload.checkoutId)
  if (stored === undefined) return yield* Effect.die(new Error(`order ${payload.checkoutId} is placed and not there`))
  const { order } = stored
  const rejected = yield* rejectedCodes(payload)
  const payment = yield* paymentOf(payload, { ...order, paymentProvider: stored.paymentProvider ?? undefined })
  const intentId = order.paymentIntentId ?? payload.checkoutId
  const undoPayment = voidPayment(payment.adapter, payment.request, intentId)
  if (order.amountCaptured !== null) {
    // Paid: nothing the provider says, or does not say, may undo it any more. The cart of one that was cancelled since
    // may have been with the shopper again, and this run's claim of it must not stay.
    if (order.status === "cancelled") yield* (yield* ClaimRepo).release(payload.request.cartId, payload.checkoutId)
    const secret = yield* clientSecretOf(payment)
    const delivered = yield* (yield* Fulfillments).deliver(order)
    const errors = [...yield* afterOrder(delivered), ...yield* afterCheckout(delivered)]
    return answer(delivered, secret, errors, rejected)
  }
  if (order.status === "cancelled") {
    yield* cancelOrder(orderOf(payload), undoPayment)
    return yield* CheckoutFailed.of("Payment capture failed.")
  }
  const authorized = yield* Effect.result(authorize(payment.adapter, payment.request))
  if (Result.isFailure(authorized)) {
    // Whatever it says now, it had set the amount aside when the order was placed.
    const paid = yield* cancelOrder(orderOf(payload), undoPayment)
    if (paid === undefined) return yield* authorizationFailed(authorized.failure)
    return answer(paid, null, [...yield* afterOrder(paid), ...yield* afterCheckout(paid)], rejected)
  }
  const intent = authorized.success
  const created = yield* afterOrder(order)
  const paid = yield* pay(payload, order, payment, intent, intentId)
  return answer(paid, intent.clientSecret, [...created, ...yield* afterCheckout(paid)], rejected)
})

const answer = (
  order: Order,
  clientSecret: string | null,
  hookErrors: CheckoutResult["hookErrors"],
  rejectedCodes: CheckoutResult["rejectedCodes"]
): CheckoutResult => ({ order, clientSecret, hookErrors, rejectedCodes })

/**
 * From the claimed cart to the paid order; each step names what undoes the ones before it. A defect is no failure: the
 * whole execution is repeated then.
 */
const purchase = Effect.fn("Checkout.purchase")(function*(payload: CheckoutPayload, cart: ClaimedCart) {
  const pricedCart = yield* priceAndReserve(payload, cart).pipe(
    // Stock is released even when the desk said no: a call that timed out may be granted later, the tombstone stops it.
    Effect.tapError(() => releaseCheckout(payload, voidEarlier(payload)))
  )
  yield* passing("reserved")
  const payment = yield* paymentOf(payload, pricedCart)
  const { adapter, request } = payment
  const intent = yield* authorize(adapter, request).pipe(
    Effect.tapError((error) => releaseCheckout(payload, () => voidUnknown(payment, error))),
    Effect.mapError(authorizationFailed)
  )
  yield* passing("authorized")
  const order = yield* beforeCreate(payload, pricedCart, intent).pipe(
    Effect.flatMap((final) => createOrder(payload, final, intent, adapter.providerId)),
    Effect.tapError(() => releaseCheckout(payload, () => voidPayment(adapter, request, intent.id)))
  )
  yield* passing("created")
  const created = yield* afterOrder(order)
  const paid = yield* pay(payload, order, payment, intent, intent.id)
  return answer(paid, intent.clientSecret, [...created, ...yield* afterCheckout(paid)], pricedCart.rejectedCodes)
})

export const checkoutLayer = CheckoutWorkflow.toLayer((payload) =>
  Effect.gen(function*() {
    const cart = yield* claimCart(payload)
    if (cart.ordered) return yield* resume(payload)
    yield* passing("claimed")
    return yield* purchase(payload, cart)
  }).pipe(Effect.tapError(() => passing("failed")), counted, Effect.provideService(CurrentActor, payload.actor))
)
