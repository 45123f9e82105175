import { Effect, Metric, Result } from "effect"
import { CurrentActor } from "../../domain/access/Actor.ts"
import { decodePricedCart } from "../../domain/checkout/Checkout.ts"
import { CheckoutPricing } from "../../domain/checkout/CheckoutPricing.ts"
import { type ClaimedCart, ClaimRepo } from "../../domain/checkout/ClaimRepo.ts"
import { CreateOrderRepo } from "../../domain/checkout/CreateOrderRepo.ts"
import { CheckoutFailed } from "../../domain/errors/ApiErrors.ts"
import { Fulfillments } from "../../domain/fulfillment/Fulfillments.ts"
import { ReservationRepo } from "../../domain/inventory/ReservationRepo.ts"
import type { Order } from "../../domain/orders/Order.ts"
import { OrderRepo } from "../../domain/orders/OrderRepo.ts"
import { UnconfirmedOrderRepo } from "../../domain/orders/UnconfirmedOrderRepo.ts"
import type { PaymentIntent } from "../../domain/payments/PaymentAdapter.ts"
import { StoreSettings } from "../../domain/settings/StoreSettings.ts"
import { afterCheckout, afterOrder, beforeCreate, beforePayment } from "./CheckoutHooks.ts"
import { claimCart, createOrder, reserveFor } from "./CheckoutSteps.ts"
import { type CheckoutError, type CheckoutPayload, type CheckoutResult, CheckoutWorkflow } from "./CheckoutWorkflow.ts"
import { cancelOrder, releaseCheckout, voidEarlier } from "./Compensation.ts"
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

/** Prices the cart, runs the hooks and reserves the stock. A priced cart that an earlier run stored wins. */
const priceAndReserve = Effect.fn("Checkout.reserve")(function*(payload: CheckoutPayload, cart: ClaimedCart) {
  const { checkoutId, request } = payload
  const priced = yield* (yield* CheckoutPricing).price(cart, request, payload.customerId)
  const allowed = yield* beforePayment(payload, priced)
  const pricedCart = { ...allowed, paymentProvider: yield* providerOf(payload) }
  const reserved = yield* reserveFor(checkoutId, pricedCart)
  return reserved.fresh ? pricedCart : yield* decodePricedCart(reserved.pricing)
})

const orderOf = ({ checkoutId, request }: CheckoutPayload) => ({ orderId: checkoutId, cartId: request.cartId })

type Payment = Effect.Success<ReturnType<typeof paymentOf>>

/** Captures, records and fulfils. If the capture fails, cancels the order and voids the payment. */
const captureAndSettle = Effect.fn("Checkout.capture")(
  function*(payload: CheckoutPayload, order: Order, { adapter, request }: Payment, intentId: string) {
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
  }
)

/** Waits for the shopper's confirmation, leaves the capture to an operator, or captures now. */
const pay = Effect.fn("Checkout.pay")(function*(
  payload: CheckoutPayload,
  order: Order,
  payment: Payment,
  status: PaymentIntent["status"],
  intentId: string
) {
  const settings = yield* StoreSettings
  if (status === "requires_action") {
    yield* (yield* UnconfirmedOrderRepo).awaitPayment(order.id, settings.confirmationMinutes * 60)
    return order
  }
  // A free order has nothing for an operator to capture.
  const later = settings.capture === "manual" && status === "requires_capture" && order.grandTotal > 0
  return later ? order : yield* captureAndSettle(payload, order, payment, intentId)
})

/** Runs the last hooks and builds the result; `errors` are those of earlier hooks. */
const finish = Effect.fnUntraced(function*(
  order: Order,
  clientSecret: string | null,
  errors: CheckoutResult["hookErrors"],
  rejectedCodes: CheckoutResult["rejectedCodes"]
) {
  const result: CheckoutResult = {
    order,
    clientSecret,
    hookErrors: [...errors, ...yield* afterCheckout(order)],
    rejectedCodes
  }
  return result
})

/** Reads the rejected promotion codes from the priced cart that an earlier run stored. */
const rejectedCodes = Effect.fn("Checkout.rejectedCodes")(function*({ checkoutId }: CheckoutPayload) {
  const [hold] = yield* (yield* ReservationRepo).holds([checkoutId])
  return hold === undefined || hold.pricing === "null" ? [] : (yield* decodePricedCart(hold.pricing)).rejectedCodes
})

/** Continues a checkout whose earlier run created the order and died: pays the order or finishes undoing it. */
const resume = Effect.fn("Checkout.resume")(function*(payload: CheckoutPayload) {
  const stored = yield* (yield* OrderRepo).find(payload.checkoutId)
  if (stored === undefined) return yield* Effect.die(new Error(`order ${payload.checkoutId} exists but cannot be read`))
  const { order } = stored
  const rejected = yield* rejectedCodes(payload)
  const payment = yield* paymentOf(payload, { ...order, paymentProvider: stored.paymentProvider ?? undefined })
  const intentId = order.paymentIntentId ?? payload.checkoutId
  const undoPayment = voidPayment(payment.adapter, payment.request, intentId)
  if (order.amountCaptured !== null) {
    // A paid order stays, even if the provider answers differently now. If it was cancelled, release this run's claim
    // of its cart.
    if (order.status === "cancelled") yield* (yield* ClaimRepo).release(payload.request.cartId, payload.checkoutId)
    const secret = yield* clientSecretOf(payment)
    const delivered = yield* (yield* Fulfillments).deliver(order)
    return yield* finish(delivered, secret, yield* afterOrder(delivered), rejected)
  }
  if (order.status === "cancelled") {
    yield* cancelOrder(orderOf(payload), undoPayment)
    return yield* CheckoutFailed.of("Payment capture failed.")
  }
  const authorized = yield* Effect.result(authorize(payment.adapter, payment.request))
  if (Result.isFailure(authorized)) {
    // The order exists, so the amount was authorized before. Void that authorization, even if the provider now answers
    // differently.
    const paid = yield* cancelOrder(orderOf(payload), undoPayment)
    if (paid === undefined) return yield* authorizationFailed(authorized.failure)
    return yield* finish(paid, null, yield* afterOrder(paid), rejected)
  }
  const intent = authorized.success
  const hookErrors = yield* afterOrder(order)
  const paid = yield* pay(payload, order, payment, intent.status, intentId)
  return yield* finish(paid, intent.clientSecret, hookErrors, rejected)
})

/** Turns a claimed cart into a paid order. Each step names the compensation of the steps before it. */
const purchase = Effect.fn("Checkout.purchase")(function*(payload: CheckoutPayload, cart: ClaimedCart) {
  const pricedCart = yield* priceAndReserve(payload, cart).pipe(
    // Release after a refusal too: a reservation that timed out may still be granted, and the tombstone stops it.
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
  const hookErrors = yield* afterOrder(order)
  const paid = yield* pay(payload, order, payment, intent.status, intent.id)
  return yield* finish(paid, intent.clientSecret, hookErrors, pricedCart.rejectedCodes)
})

const checkouts = Metric.counter("stoa_checkouts_total", {
  description: "Checkouts that ended in this process: created, or the code of the error; a repeated run counts again",
  incremental: true
})

const count = (outcome: string) => Metric.update(Metric.withAttributes(checkouts, { outcome }), 1)

/** Counts outcomes. A run that dies has none: another run follows it. */
const counted = <A, R>(checkout: Effect.Effect<A, CheckoutError, R>): Effect.Effect<A, CheckoutError, R> =>
  checkout.pipe(Effect.tap(count("created")), Effect.tapError(({ error }) => count(error.code)))

export const checkoutLayer = CheckoutWorkflow.toLayer((payload) =>
  Effect.gen(function*() {
    const cart = yield* claimCart(payload)
    if (cart.ordered) return yield* resume(payload)
    yield* passing("claimed")
    return yield* purchase(payload, cart)
  }).pipe(Effect.tapError(() => passing("failed")), counted, Effect.provideService(CurrentActor, payload.actor))
)
