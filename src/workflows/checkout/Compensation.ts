import { Effect, Result } from "effect"
import { ClaimRepo } from "../../domain/checkout/ClaimRepo.ts"
import { decodePricedCart } from "../../domain/checkout/PricedCartCodec.ts"
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
 * What undoes a checkout. The rows come first and the money after them: the ended reservation, or the cancelled order,
 * is what every later run of the same checkout meets. Were the money first, a run that starts again after a crash could
 * place and capture the very payment that is being voided.
 */

/**
 * Ends a checkout that has no order: its reservation, then its money, then the cart goes back. `undoPayment` is given
 * the hold as it was found. A checkout whose order another run has placed meanwhile is not to be undone from here: it
 * dies, and the repetition finds that order.
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

/**
 * For a run that fails before it asks for money. A priced cart pinned with the hold is that of an earlier run, which may
 * have had the amount set aside before it died.
 */
export const voidEarlier = (payload: CheckoutPayload) =>
  Effect.fn("Checkout.voidEarlier")(function*(hold: PinnedHold | undefined) {
    if (hold === undefined || hold.pricing === "null") return
    const { adapter, request } = yield* paymentOf(payload, yield* decodePricedCart(hold.pricing))
    yield* voidLater(adapter, request, null)
  })

/** How often the cancellation of an order is decided anew because others change its status meanwhile. */
const rounds = 5

/**
 * Cancels an order that was not paid, whatever status others have given it; gives it when it was paid meanwhile. Hooks
 * are told and not asked: there is no money for the order, so none of them can keep it.
 */
const cancelUnpaid = Effect.fn("Checkout.cancelUnpaid")(function*(orderId: string) {
  let from: OrderStatus = "pending"
  for (let round = 0; round < rounds; round++) {
    const cancelled = yield* (yield* OrderStatusRepo).transition({
      orderId,
      from,
      to: "cancelled",
      reason: "payment_failed",
      authorizationEnded: true,
      unpaid: true
    }).pipe(Effect.result)
    if (Result.isSuccess(cancelled)) {
      const asked = { orderId, fromStatus: from, newStatus: "cancelled", reason: "payment_failed" }
      yield* (yield* Hooks).after("orders.afterStatusChange", cancelled.success.order, asked)
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
  return yield* Effect.die(new Error(`order ${orderId} could not be cancelled: others keep changing it`))
})

/**
 * Takes back an order that could not be paid: it is cancelled, and with it stock, usage and cart go back, then the money
 * (contract §3.6). Gives the order instead when it was paid after all, by another run or as the provider's event says.
 */
export const cancelOrder = Effect.fn("Checkout.cancelOrder")(function*<R>(
  { cartId, orderId }: { readonly orderId: string; readonly cartId: string | null },
  undoPayment: Effect.Effect<void, never, R>
) {
  const paid = yield* cancelUnpaid(orderId)
  if (paid !== undefined) return paid
  // An earlier run had undone everything and died before it could say so: this one has claimed the cart once more.
  if (cartId !== null) yield* (yield* ClaimRepo).release(cartId, orderId)
  yield* passing("undone")
  yield* undoPayment
  yield* passing("undone")
  return undefined
})
