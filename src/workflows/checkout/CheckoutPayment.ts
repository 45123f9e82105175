import { Data, Effect, Result } from "effect"
import { BasketRepo } from "../../domain/checkout/BasketRepo.ts"
import { CheckoutExtensions } from "../../domain/checkout/CheckoutExtension.ts"
import { CheckoutRunRepo, type RunOwner } from "../../domain/checkout/CheckoutRunRepo.ts"
import { decodePricedCart } from "../../domain/checkout/PricedCart.ts"
import { HoldRepo } from "../../domain/inventory/HoldRepo.ts"
import { ReservationRepo } from "../../domain/inventory/ReservationRepo.ts"
import type { PinnedHold } from "../../domain/inventory/StockRules.ts"
import type { StoredOrder } from "../../domain/orders/Order.ts"
import { OrderRepo } from "../../domain/orders/OrderRepo.ts"
import { type OrderStatus, transition } from "../../domain/orders/OrderStatus.ts"
import { OrderStatusRepo } from "../../domain/orders/OrderStatusRepo.ts"
import {
  PaymentDeclined,
  type PaymentIntent,
  type PaymentRequest,
  type PaymentUnknown
} from "../../domain/payments/PaymentAdapter.ts"
import { CurrentActor } from "../../domain/platform/access/Actor.ts"
import { CheckoutFailed } from "../../domain/platform/errors/ApiErrors.ts"
import { Hooks } from "../../domain/platform/hooks/Hooks.ts"
import type { OrderId, PaymentId } from "../../domain/platform/ids/Id.ts"
import { askProvider } from "../payments/ProviderCalls.ts"
import { VoidPayment } from "../payments/VoidPayment.ts"
import { type CheckoutTender, paymentsOf } from "./CheckoutTenders.ts"
import { type CheckoutPayload, type CheckoutRun, passing } from "./CheckoutWorkflow.ts"

type Asked = Pick<CheckoutTender, "adapter" | "request">

export class AuthorizationFailed extends Data.TaggedError("AuthorizationFailed")<{
  readonly error: PaymentDeclined | PaymentUnknown
  readonly authorized: ReadonlyArray<PaymentIntent>
}> {}

const voidLater = ({ adapter, request }: Asked, intentId: string | null) =>
  Effect.asVoid(
    VoidPayment.execute({ providerId: adapter.providerId, request, intentId }, { discard: true, detached: true })
  )

const authorizeOne = Effect.fnUntraced(function*({ adapter, request }: Asked) {
  const intent = yield* askProvider(adapter.authorize(request))
  if (intent.status !== "canceled") return intent
  // An earlier run of this checkout failed, voided it and died before it reported the failure.
  return yield* new PaymentDeclined({ code: "PAYMENT_INTENT_CREATE_FAILED", message: "The payment was cancelled." })
})

/** The answer to a shopper has the secret of one payment only. */
const asksTwice = new PaymentDeclined({
  code: "PAYMENT_INTENT_CREATE_FAILED",
  message: "Two payments of one order would have to be confirmed. Pay with one of them.",
  needsShopper: true
})

const asksShopper = ({ status }: PaymentIntent): boolean => status === "requires_action"

/** Authorizes the payments in their order. The first that fails ends it. */
export const authorize = Effect.fn("Checkout.authorize")(function*(payments: ReadonlyArray<CheckoutTender>) {
  const authorized: Array<PaymentIntent> = []
  for (const payment of payments) {
    authorized.push(
      yield* Effect.mapError(authorizeOne(payment), (error) => new AuthorizationFailed({ error, authorized }))
    )
    if (payments.length > 1) yield* passing("tender-authorized")
    if (authorized.filter(asksShopper).length > 1) {
      return yield* new AuthorizationFailed({ error: asksTwice, authorized })
    }
  }
  return authorized
})

/** A payment that was not authorized (422). */
export const paymentRefused = ({ message, needsShopper }: Pick<PaymentDeclined, "message" | "needsShopper">) =>
  CheckoutFailed.of(`The payment was refused. ${message}`, {
    reason: needsShopper === true ? "payment_requires_action" : "payment_declined",
    decline: message
  })

export const authorizationFailed = ({ error }: AuthorizationFailed) => paymentRefused(error)

/** An order is known by its last payment, which pays what the others leave. */
export const mainIntent = (intents: ReadonlyArray<PaymentIntent>) => {
  const main = intents.at(-1)
  return {
    id: main?.id ?? "",
    clientSecret: (intents.find(asksShopper) ?? main)?.clientSecret ?? null,
    redirectUrl: intents.find(asksShopper)?.redirectUrl ?? null,
    asksShopper: intents.some(asksShopper),
    capturable: intents.every(({ status }) => status === "requires_capture")
  }
}

export const clientSecretOf = (payments: ReadonlyArray<CheckoutTender>) =>
  authorize(payments).pipe(
    Effect.map((intents) => mainIntent(intents).clientSecret),
    Effect.catch(() => Effect.succeed(null))
  )

export const captureKey = ({ idempotencyKey }: PaymentRequest): string => `${idempotencyKey}:capture`

export const isCaptured = (intent: PaymentIntent, { amount }: PaymentRequest): boolean =>
  intent.status === "succeeded" && intent.amountCaptured === amount

const captureOne = Effect.fnUntraced(function*({ adapter, request }: Asked, intentId: string) {
  const intent = yield* askProvider(adapter.capture(intentId, request.amount, captureKey(request))).pipe(
    Effect.mapError((error) =>
      CheckoutFailed.of(`The payment could not be captured. ${error.message}`, {
        reason: "payment_declined",
        decline: error.message
      })
    )
  )
  if (isCaptured(intent, request)) return intent.amountCaptured
  yield* Effect.logError(`payment ${intentId} was not captured in full`, intent)
  return yield* CheckoutFailed.of("The payment could not be captured in full. Try again, or pay another way.", {
    reason: "payment_declined"
  })
})

/** A partial capture, or one of a voided payment, is a failure; the caller then voids all payments. */
export const capture = Effect.fn("Checkout.capture")(
  function*(payments: ReadonlyArray<CheckoutTender>, intents: ReadonlyArray<string>) {
    const amounts = yield* Effect.forEach(payments, (payment, at) =>
      Effect.tap(
        captureOne(payment, intents[at] ?? ""),
        () => payments.length > 1 ? passing("tender-captured") : Effect.void
      ))
    return {
      total: amounts.reduce((sum, amount) => sum + amount, 0),
      parts: payments.flatMap(({ isPart }, position) => isPart ? [{ position, captured: amounts[position] ?? 0 }] : [])
    }
  }
)

/** Voids or refunds a payment after an authorization or a capture with unknown outcome. */
export const voidPayment = Effect.fn("Checkout.voidPayment")(function*(payment: Asked, intentId: string) {
  yield* askProvider(payment.adapter.cancel(intentId, `${payment.request.idempotencyKey}:cancel`)).pipe(
    Effect.catch(() => voidLater(payment, intentId))
  )
})

/** Voids each payment by itself: one silent provider delays no other. */
export const voidPayments = (payments: ReadonlyArray<Asked>, intents: ReadonlyArray<string>) =>
  Effect.forEach(intents, (intentId, at) => {
    const payment = payments[at]
    return payment === undefined ? Effect.void : voidPayment(payment, intentId)
  }, { discard: true })

/** Voids what was authorized, and the failed payment only if its outcome is unknown. */
export const voidAuthorized = (payments: ReadonlyArray<CheckoutTender>, { authorized, error }: AuthorizationFailed) =>
  Effect.gen(function*() {
    yield* voidPayments(payments, authorized.map(({ id }) => id))
    const failed = payments[authorized.length]
    if (failed !== undefined && error._tag === "PaymentUnknown") yield* voidLater(failed, null)
  })

/*
 * Compensations end the rows first (the reservation or the order) and the payment after them: later runs of the
 * checkout read the rows. In the other order, a run after a crash could create an order with the payment that is being
 * voided.
 */

export const tellFailure = Effect.fn("Checkout.tellFailure")(function*(checkoutId: OrderId, known?: PinnedHold) {
  const extensions = yield* CheckoutExtensions
  if (!extensions.any()) return
  const hold = known ?? (yield* (yield* ReservationRepo).holds([checkoutId]))[0]
  const pinned = hold === undefined || hold.pricing === "null" ? undefined : yield* decodePricedCart(hold.pricing)
  yield* extensions.failed(checkoutId, pinned?.extensions)
})

/**
 * Releases stock, payment and cart of a checkout without an order. `undoPayment` gets the hold. The release decides
 * that the checkout failed, so only its owner makes it; the rest is idempotent. Dies if an earlier run created the
 * order; the repetition then finds that order.
 */
export const releaseCheckout = Effect.fn("Checkout.releaseCheckout")(function*<R>(
  run: CheckoutRun,
  undoPayment: (hold: PinnedHold | undefined) => Effect.Effect<void, never, R>
) {
  const { checkoutId, request } = run
  yield* (yield* CheckoutRunRepo).owning(run, (yield* HoldRepo).release(checkoutId))
  const [hold] = yield* (yield* ReservationRepo).holds([checkoutId])
  if (hold?.state === "sold" || hold?.state === "fulfilled") {
    return yield* Effect.die(new Error(`order ${checkoutId} was created by another run of its checkout`))
  }
  yield* passing("undone")
  yield* undoPayment(hold)
  yield* passing("undone")
  yield* tellFailure(checkoutId, hold)
  yield* (yield* BasketRepo).release(request.cartId, run)
})

/** Voids payments of an earlier run: only that run can have stored a priced cart. */
export const voidEarlier = (payload: CheckoutPayload) =>
  Effect.fn("Checkout.voidEarlier")(function*(hold: PinnedHold | undefined) {
    if (hold === undefined || hold.pricing === "null") return
    const payments = yield* paymentsOf(payload, yield* decodePricedCart(hold.pricing))
    yield* Effect.forEach(payments, (payment) => voidLater(payment, null), { discard: true })
  })

/** The run that lost the checkout may have authorized payments after it failed in another run. */
export const voidLost = Effect.fn("Checkout.voidLost")(function*(payload: CheckoutPayload) {
  const [hold] = yield* (yield* ReservationRepo).holds([payload.checkoutId])
  yield* voidEarlier(payload)(hold)
}, (effect, { actor }) => Effect.provideService(effect, CurrentActor, actor))

const maxAttempts = 5

/**
 * Hooks run after the cancellation and cannot refuse it, because the order has no money. Returns the order if it was
 * paid meanwhile, and leaves one whose payment another one replaces.
 */
const cancelUnpaid = Effect.fn("Checkout.cancelUnpaid")(function*(
  orderId: OrderId,
  run: RunOwner | undefined,
  paymentId: PaymentId | null
) {
  const runs = yield* CheckoutRunRepo
  let from: OrderStatus = "pending"
  for (let attempt = 0; attempt < maxAttempts; attempt++) {
    const cancellation = (yield* OrderStatusRepo).transition({
      orderId,
      from,
      to: "cancelled",
      reason: "payment_failed",
      authorizationEnded: true,
      unpaid: true,
      payment: { id: paymentId }
    })
    const cancelled = yield* Effect.result(run === undefined ? cancellation : runs.owning(run, cancellation))
    if (Result.isFailure(cancelled) && cancelled.failure._tag === "RunLost") return yield* cancelled.failure
    if (Result.isSuccess(cancelled)) {
      const change = { orderId, fromStatus: from, newStatus: "cancelled", reason: "payment_failed" }
      yield* (yield* Hooks).after("orders.afterStatusChange", cancelled.success.order, change)
      return undefined
    }
    const stored: StoredOrder | undefined = yield* (yield* OrderRepo).find(orderId)
    if (stored === undefined || stored.order.status === "cancelled") return undefined
    if (stored.paymentClaimId !== null || stored.paymentId !== paymentId) return "replaced" as const
    const { order } = stored
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
 * Cancels an order that could not be paid, then undoes its payment (contract §3.6). Returns the order if another run or
 * the provider's event paid it meanwhile. `run`: the run of its checkout, which ends.
 */
export const cancelOrder = Effect.fn("Checkout.cancelOrder")(function*<R>(
  orderId: OrderId,
  undoPayment: Effect.Effect<void, never, R>,
  run?: RunOwner,
  paymentId: PaymentId | null = null
) {
  const kept = yield* cancelUnpaid(orderId, run, paymentId)
  if (kept !== undefined && kept !== "replaced") return kept
  yield* passing("undone")
  yield* undoPayment
  yield* passing("undone")
  if (kept === undefined) yield* tellFailure(orderId)
  if (run !== undefined) yield* (yield* CheckoutRunRepo).end(run)
  return undefined
})
