import { Effect, Result, Schedule } from "effect"
import { BasketRepo } from "../../domain/checkout/BasketRepo.ts"
import { decodePricedCart, type PricedCart } from "../../domain/checkout/PricedCart.ts"
import { CheckoutFailed } from "../../domain/errors/ApiErrors.ts"
import { Hooks } from "../../domain/hooks/Hooks.ts"
import type { CartId, OrderId } from "../../domain/ids/Id.ts"
import { HoldRepo } from "../../domain/inventory/HoldRepo.ts"
import { ReservationRepo } from "../../domain/inventory/ReservationRepo.ts"
import type { PinnedHold } from "../../domain/inventory/StockRules.ts"
import type { Order } from "../../domain/orders/Order.ts"
import { OrderRepo } from "../../domain/orders/OrderRepo.ts"
import { type OrderStatus, transition } from "../../domain/orders/OrderStatus.ts"
import { OrderStatusRepo } from "../../domain/orders/OrderStatusRepo.ts"
import {
  type PaymentAdapter,
  PaymentAdapters,
  PaymentDeclined,
  type PaymentIntent,
  type PaymentRequest,
  type PaymentUnknown
} from "../../domain/payments/PaymentAdapter.ts"
import { adapterOf, answerWithin } from "../payments/ProviderCalls.ts"
import { VoidPayment } from "../payments/VoidPayment.ts"
import { type CheckoutPayload, passing } from "./Checkouts.ts"

/**
 * Asks a provider up to three times with one idempotency key, so that no money moves twice. If it stays silent, a durable
 * workflow resolves the payment later (ARCHITECTURE §3).
 */
const ask = <A>(call: Effect.Effect<A, PaymentDeclined | PaymentUnknown>) =>
  Effect.retry(answerWithin(call, "5 seconds"), {
    times: 2,
    schedule: Schedule.exponential("200 millis"),
    while: (error) => error._tag === "PaymentUnknown"
  })

/** The provider that the current configuration selects for this checkout. */
export const providerOf = ({ request }: CheckoutPayload) =>
  Effect.map(PaymentAdapters, (adapters) => adapters.select(request.paymentMethodId).adapter.providerId)

/** The parts of a priced cart or order that a payment needs. `paymentProvider` is absent in older stored payloads. */
type Payable = Pick<PricedCart, "customerId" | "grandTotal" | "paymentProvider">

/**
 * The adapter and the payment request of this checkout; the checkout id is the idempotency key. The provider that was
 * stored first wins over the current configuration, because it holds the money.
 */
export const paymentOf = Effect.fnUntraced(
  function*(payload: CheckoutPayload, { customerId, grandTotal, paymentProvider }: Payable) {
    const { paymentMethodId } = payload.request
    const selected = (yield* PaymentAdapters).select(paymentMethodId)
    const { adapter, token } = paymentProvider === undefined || paymentProvider === selected.adapter.providerId
      ? selected
      : {
        adapter: yield* adapterOf(paymentProvider),
        token: paymentMethodId === paymentProvider ? null : paymentMethodId
      }
    const request: PaymentRequest = {
      amount: grandTotal,
      currency: payload.request.currency,
      orderId: payload.checkoutId,
      customerId,
      paymentMethodToken: payload.request.paymentMethodToken ?? token,
      metadata: {
        orderId: payload.checkoutId,
        organizationId: payload.actor.organizationId,
        checkoutId: payload.checkoutId,
        cartId: payload.request.cartId
      },
      idempotencyKey: payload.checkoutId
    }
    return { adapter, request }
  }
)

/** Voids an orphaned payment by a durable workflow, however long the provider is silent. */
export const voidLater = (adapter: PaymentAdapter, request: PaymentRequest, intentId: string | null) =>
  Effect.asVoid(VoidPayment.execute({ providerId: adapter.providerId, request, intentId }, { discard: true }))

/** Authorizes the amount. */
export const authorize = Effect.fn("Checkout.authorize")(function*(adapter: PaymentAdapter, request: PaymentRequest) {
  const intent = yield* ask(adapter.authorize(request))
  if (intent.status !== "canceled") return intent
  // An earlier run of this checkout failed, voided it and died before it reported the failure.
  return yield* new PaymentDeclined({ code: "PAYMENT_INTENT_CREATE_FAILED", message: "it was cancelled." })
})

/** The error of a failed authorization, for the shopper. */
export const authorizationFailed = ({ message }: PaymentDeclined | PaymentUnknown) =>
  CheckoutFailed.of(`Payment authorization failed: ${message}`)

/** Compensation of a failed authorization: voids the payment only if its outcome is unknown. */
export const voidUnknown = (
  { adapter, request }: { readonly adapter: PaymentAdapter; readonly request: PaymentRequest },
  error: PaymentDeclined | PaymentUnknown
) => error._tag === "PaymentUnknown" ? voidLater(adapter, request, null) : Effect.void

/** Requests the secret that confirms a payment again; null if the provider returns none. */
export const clientSecretOf = (
  { adapter, request }: { readonly adapter: PaymentAdapter; readonly request: PaymentRequest }
) =>
  ask(adapter.authorize(request)).pipe(
    Effect.map(({ clientSecret }) => clientSecret),
    Effect.catch(() => Effect.succeed(null))
  )

/** The idempotency key of a payment's capture, shared by all who capture it. */
export const captureKey = ({ idempotencyKey }: PaymentRequest): string => `${idempotencyKey}:capture`

/** Whether the full amount was captured; anything else is a failure. */
export const isCaptured = (intent: PaymentIntent, { amount }: PaymentRequest): boolean =>
  intent.status === "succeeded" && intent.amountCaptured === amount

/** Captures the authorized amount. A partial capture, or one of a voided payment, is a failure. */
export const capture = Effect.fn("Checkout.capture")(function*(
  adapter: PaymentAdapter,
  request: PaymentRequest,
  intentId: string
) {
  const intent = yield* ask(adapter.capture(intentId, request.amount, captureKey(request))).pipe(
    Effect.mapError((error) => CheckoutFailed.of(`Payment capture failed: ${error.message}`))
  )
  if (isCaptured(intent, request)) return intent
  yield* Effect.logError(`payment ${intentId} was not captured in full`, intent)
  return yield* CheckoutFailed.of("Payment capture failed: the amount was not taken in full.")
})

/** Compensation of an authorization or of a capture with unknown outcome: voids or refunds the payment. */
export const voidPayment = Effect.fn("Checkout.voidPayment")(function*(
  adapter: PaymentAdapter,
  request: PaymentRequest,
  intentId: string
) {
  yield* ask(adapter.cancel(intentId, `${request.idempotencyKey}:cancel`)).pipe(
    Effect.catch(() => voidLater(adapter, request, intentId))
  )
})

/*
 * Compensations end the rows first (the reservation or the order) and the payment after them: later runs of the checkout
 * read the rows. In the other order, a run after a crash could create an order with the payment that is being voided.
 */

/**
 * Ends a checkout without an order: releases its stock, undoes its payment and releases the cart. `undoPayment` gets the
 * hold. Dies if another run created the order meanwhile; the repetition then finds that order.
 */
export const releaseCheckout = Effect.fn("Checkout.releaseCheckout")(function*<R>(
  { checkoutId, request }: CheckoutPayload,
  undoPayment: (hold: PinnedHold | undefined) => Effect.Effect<void, never, R>
) {
  yield* (yield* HoldRepo).release(checkoutId)
  const [hold] = yield* (yield* ReservationRepo).holds([checkoutId])
  if (hold?.state === "sold" || hold?.state === "fulfilled") {
    return yield* Effect.die(new Error(`order ${checkoutId} was created by another run of its checkout`))
  }
  yield* passing("undone")
  yield* undoPayment(hold)
  yield* passing("undone")
  yield* (yield* BasketRepo).release(request.cartId, checkoutId)
})

/** Voids the payment that an earlier run may have authorized: only that run can have stored a priced cart. */
export const voidEarlier = (payload: CheckoutPayload) =>
  Effect.fn("Checkout.voidEarlier")(function*(hold: PinnedHold | undefined) {
    if (hold === undefined || hold.pricing === "null") return
    const { adapter, request } = yield* paymentOf(payload, yield* decodePricedCart(hold.pricing))
    yield* voidLater(adapter, request, null)
  })

const maxAttempts = 5

/**
 * Cancels an unpaid order from any status; returns the order if it was paid meanwhile. Hooks run after the cancellation
 * and cannot refuse it, because the order has no money.
 */
const cancelUnpaid = Effect.fn("Checkout.cancelUnpaid")(function*(orderId: OrderId) {
  let from: OrderStatus = "pending"
  for (let attempt = 0; attempt < maxAttempts; attempt++) {
    const cancelled = yield* (yield* OrderStatusRepo).transition({
      orderId,
      from,
      to: "cancelled",
      reason: "payment_failed",
      authorizationEnded: true,
      unpaid: true
    }).pipe(Effect.result)
    if (Result.isSuccess(cancelled)) {
      const change = { orderId, fromStatus: from, newStatus: "cancelled", reason: "payment_failed" }
      yield* (yield* Hooks).after("orders.afterStatusChange", cancelled.success.order, change)
      return undefined
    }
    const order: Order | undefined = (yield* (yield* OrderRepo).find(orderId))?.order
    if (order === undefined || order.status === "cancelled") return undefined
    if (order.amountCaptured !== null) return order
    if (Result.isFailure(transition(order.status, "cancelled", "request"))) {
      yield* Effect.logError(`order ${orderId} is ${order.status} and was never paid`)
      return undefined
    }
    from = order.status
  }
  return yield* Effect.die(new Error(`order ${orderId} could not be cancelled: other requests keep changing it`))
})

/**
 * Cancels an order that could not be paid, with its stock, usage and cart, and then undoes its payment (contract §3.6).
 * Gives the order if another run or the provider's event paid it meanwhile.
 */
export const cancelOrder = Effect.fn("Checkout.cancelOrder")(function*<R>(
  { cartId, orderId }: { readonly orderId: OrderId; readonly cartId: CartId | null },
  undoPayment: Effect.Effect<void, never, R>
) {
  const paid = yield* cancelUnpaid(orderId)
  if (paid !== undefined) return paid
  // If an earlier run died after it undid everything, this run has claimed the cart again.
  if (cartId !== null) yield* (yield* BasketRepo).release(cartId, orderId)
  yield* passing("undone")
  yield* undoPayment
  yield* passing("undone")
  return undefined
})
