import { Effect, Result } from "effect"
import { decodePricedCart } from "../../domain/checkout/Checkout.ts"
import { ClaimRepo } from "../../domain/checkout/ClaimRepo.ts"
import { Hooks } from "../../domain/hooks/Hooks.ts"
import { HoldRepo } from "../../domain/inventory/HoldRepo.ts"
import type { PinnedHold } from "../../domain/inventory/Reservation.ts"
import { ReservationRepo } from "../../domain/inventory/ReservationRepo.ts"
import type { Order } from "../../domain/orders/Order.ts"
import { OrderRepo } from "../../domain/orders/OrderRepo.ts"
import { type OrderStatus, transition } from "../../domain/orders/OrderStatus.ts"
import { OrderStatusRepo } from "../../domain/orders/OrderStatusRepo.ts"
import type { CheckoutPayload } from "./CheckoutWorkflow.ts"
import { passing } from "./FaultPoint.ts"
import { paymentOf, voidLater } from "./PaymentStep.ts"

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
    return yield* Effect.die(new Error(`order ${checkoutId} was placed by another run of its checkout`))
  }
  yield* passing("undone")
  yield* undoPayment(hold)
  yield* passing("undone")
  yield* (yield* ClaimRepo).release(request.cartId, checkoutId)
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
const cancelUnpaid = Effect.fn("Checkout.cancelUnpaid")(function*(orderId: string) {
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
  { cartId, orderId }: { readonly orderId: string; readonly cartId: string | null },
  undoPayment: Effect.Effect<void, never, R>
) {
  const paid = yield* cancelUnpaid(orderId)
  if (paid !== undefined) return paid
  // If an earlier run died after it undid everything, this run has claimed the cart again.
  if (cartId !== null) yield* (yield* ClaimRepo).release(cartId, orderId)
  yield* passing("undone")
  yield* undoPayment
  yield* passing("undone")
  return undefined
})
