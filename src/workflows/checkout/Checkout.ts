import { Cause, DateTime, Effect, Metric, Result } from "effect"
import { ClusterSchema } from "effect/cluster"
import { CurrentActor, systemActor } from "../../domain/access/Actor.ts"
import { CartNotFound } from "../../domain/carts/Cart.ts"
import { BasketRepo } from "../../domain/checkout/BasketRepo.ts"
import { CheckoutExtensions } from "../../domain/checkout/CheckoutExtension.ts"
import { CheckoutPricing } from "../../domain/checkout/CheckoutPricing.ts"
import type { ClaimedCart } from "../../domain/checkout/CheckoutStatements.ts"
import { CreateOrderRepo } from "../../domain/checkout/CreateOrderRepo.ts"
import { decodePricedCart, encodePricedCart, pendingOrder, type PricedCart } from "../../domain/checkout/PricedCart.ts"
import { CheckoutFailed } from "../../domain/errors/ApiErrors.ts"
import { Fulfillments } from "../../domain/fulfillment/Fulfillments.ts"
import type { OrderId } from "../../domain/ids/Id.ts"
import { ReservationRepo } from "../../domain/inventory/ReservationRepo.ts"
import type { Order } from "../../domain/orders/Order.ts"
import { OrderNumbers } from "../../domain/orders/OrderNumbers.ts"
import { OrderRepo } from "../../domain/orders/OrderRepo.ts"
import { type OrderPayment, paidInFull } from "../../domain/orders/Tender.ts"
import { UnpaidOrderRepo } from "../../domain/orders/UnpaidOrderRepo.ts"
import type { PaymentIntent } from "../../domain/payments/PaymentAdapter.ts"
import { StoreSettings } from "../../domain/settings/StoreSettings.ts"
import { StockClient } from "../../entities/StockEntity.ts"
import { conclude } from "./Captures.ts"
import { afterCheckout, afterOrder, beforeCreate, beforePayment } from "./CheckoutHooks.ts"
import {
  authorizationFailed,
  authorize,
  cancelOrder,
  capture,
  clientSecretOf,
  mainIntent,
  releaseCheckout,
  voidAuthorized,
  voidEarlier,
  voidPayments
} from "./CheckoutPayment.ts"
import {
  type CheckoutError,
  type CheckoutPayload,
  type CheckoutResult,
  CheckoutWorkflow,
  passing
} from "./Checkouts.ts"
import { type CheckoutTender, paymentsOf, providerOf, splitTotal } from "./CheckoutTenders.ts"

/** Retries of a claim when the cart changed while it was read. */
const maxRetries = 5

const refusal = (cart: ClaimedCart, currency: string): CheckoutFailed | CartNotFound => {
  if (!cart.admitted) return new CartNotFound()
  if (cart.lines.length === 0) return CheckoutFailed.of("The cart is empty.")
  if (cart.currency !== currency) {
    return CheckoutFailed.of(`The cart's currency is ${cart.currency}, not ${currency}.`)
  }
  if (cart.status === "active" && cart.expired) return CheckoutFailed.of("The cart has expired.")
  return CheckoutFailed.of(`The cart is not available for checkout: it is ${cart.status.replace("_", " ")}.`)
}

/** Claims the cart for this checkout until the checkout ends (contract §3.2, 0b and 1). */
export const claimCart = Effect.fn("Checkout.claim")(function*(payload: CheckoutPayload) {
  const claims = yield* BasketRepo
  const { actor, checkoutId, customerId, request, secretHash } = payload
  for (let retry = 0;; retry++) {
    const cart = yield* claims.claim(request.cartId, checkoutId, { actor, customerId, secretHash }, request.currency)
    if (cart === undefined) return yield* new CartNotFound()
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
export const reserveFor = Effect.fn("Checkout.reserveStock")(function*(orderId: OrderId, pricedCart: PricedCart) {
  return yield* (yield* StockClient).reserve({
    holder: orderId,
    lines: pricedCart.lines.map(({ entityId, quantity, title, variantId }) => ({
      sellableId: variantId ?? entityId,
      entityId,
      quantity,
      title
    })),
    warehouseId: pricedCart.warehouseId,
    ttlSeconds: (yield* StoreSettings).holdSeconds,
    pricing: yield* encodePricedCart(pricedCart)
  }).pipe(Effect.mapError((error) => error._tag === "ProcessStopping" ? error : stockError(error)))
})

/** The payments of a new order; stored only if the checkout has split its total. */
const storedPayments = (
  payments: ReadonlyArray<CheckoutTender>,
  intents: ReadonlyArray<PaymentIntent>
): ReadonlyArray<OrderPayment> =>
  payments.filter(({ isPart }) => isPart).map(({ adapter, label, request: { amount } }, position) => ({
    position,
    provider: adapter.providerId,
    label,
    intentId: intents[position]?.id ?? "",
    isStoredValue: adapter.isStoredValue ?? false,
    amount,
    captured: null,
    refunded: 0,
    needsShopper: intents[position]?.status === "requires_action"
  }))

/**
 * Reserves for a workflow. A process that stops leaves it at once to the one that takes over its shard, which can do so
 * only when nothing runs on it here.
 */
export const reserveOrLeave = (orderId: OrderId, pricedCart: PricedCart) =>
  Effect.catchTag(
    reserveFor(orderId, pricedCart),
    "ProcessStopping",
    () => Effect.failCause(Cause.annotate(Cause.interrupt(), ClusterSchema.Abandon.annotation))
  )

/**
 * Creates the order with its usage, stock, cart and event in one transaction. The order has the checkout's id, so it
 * cannot be created twice (contract §4).
 */
export const createOrder = Effect.fn("Checkout.create")(
  function*(
    { actor, checkoutId, idempotencyKey, request }: CheckoutPayload,
    pricedCart: PricedCart,
    payments: ReadonlyArray<CheckoutTender>,
    intents: ReadonlyArray<PaymentIntent>
  ) {
    const { asksShopper, id: paymentIntentId } = mainIntent(intents)
    const provider = payments.at(-1)?.adapter.providerId ?? ""
    const stored = storedPayments(payments, intents)
    const order = pendingOrder(pricedCart, request, {
      id: checkoutId,
      organizationId: actor.organizationId,
      orderNumber: yield* (yield* OrderNumbers).next,
      paymentIntentId,
      paymentMethodId: request.paymentMethodId,
      idempotencyKey,
      placedAt: DateTime.toDateUtc(yield* DateTime.now),
      metadata: { cartId: request.cartId, checkoutId, paymentIntentId }
    }, { paymentProvider: provider, awaitsShopper: asksShopper, storedPayments: stored.length === 0 ? null : stored })
    const created = yield* (yield* CreateOrderRepo).create({
      order,
      pricedCart,
      cartId: request.cartId,
      idempotencyKey,
      provider,
      payments: stored
    })
    if (created === "reservation-expired") return yield* reservationExpired
    // An order of another run has its number and time.
    return created === "exists" ? (yield* (yield* OrderRepo).find(order.id))?.order ?? order : order
  },
  (effect, payload) => Effect.provideService(effect, CurrentActor, payload.actor)
)

/** Prices the cart, runs the hooks and reserves the stock. A priced cart that an earlier run stored wins. */
const priceAndReserve = Effect.fn("Checkout.reserve")(function*(payload: CheckoutPayload, cart: ClaimedCart) {
  const { checkoutId, request } = payload
  const decide = (yield* CheckoutExtensions).decide({
    checkoutId,
    cartId: request.cartId,
    currency: request.currency,
    shippingAddress: request.shippingAddress ?? null,
    metadata: request.metadata ?? {}
  })
  const priced = yield* (yield* CheckoutPricing).price(cart, request, payload.customerId, decide)
  const allowed = yield* beforePayment(payload, priced)
  const tenders = yield* splitTotal(payload, allowed)
  const pricedCart = tenders === undefined
    ? { ...allowed, paymentProvider: yield* providerOf(payload) }
    : { ...allowed, tenders }
  const reserved = yield* reserveOrLeave(checkoutId, pricedCart)
  return reserved.fresh ? pricedCart : yield* decodePricedCart(reserved.pricing)
})

const orderOf = ({ checkoutId, request }: CheckoutPayload) => ({ orderId: checkoutId, cartId: request.cartId })

type Payments = ReadonlyArray<CheckoutTender>

/** Captures, records and fulfils. If a capture fails, cancels the order and voids the payments. */
const captureAndSettle = Effect.fn("Checkout.capture")(
  function*(payload: CheckoutPayload, order: Order, payments: Payments, intents: ReadonlyArray<string>) {
    const undoPayment = voidPayments(payments, intents)
    const captured = yield* Effect.result(capture(payments, intents))
    if (Result.isFailure(captured)) {
      return (yield* cancelOrder(orderOf(payload), undoPayment)) ?? (yield* captured.failure)
    }
    yield* passing("captured")
    const settled = yield* (yield* CreateOrderRepo).settle(order.id, intents.at(-1) ?? "", captured.success)
    if (settled === undefined) {
      yield* cancelOrder(orderOf(payload), undoPayment)
      return yield* CheckoutFailed.of("The order was cancelled while it was being paid.")
    }
    yield* passing("settled")
    const paid = paidInFull({ ...order, ...settled })
    // If no provider will report a payment, the order has nothing else to wait for. The shopper may not confirm it.
    return payments.every(({ adapter }) => adapter.verifyWebhook === undefined)
      ? yield* Effect.provideService(conclude(paid), CurrentActor, systemActor(order.organizationId))
      : yield* (yield* Fulfillments).deliver(paid)
  }
)

/** Waits for the shopper's confirmation, leaves the capture to an operator, or captures now. */
const pay = Effect.fn("Checkout.pay")(function*(
  payload: CheckoutPayload,
  order: Order,
  payments: Payments,
  intents: ReadonlyArray<PaymentIntent>
) {
  const settings = yield* StoreSettings
  const { asksShopper, capturable } = mainIntent(intents)
  if (asksShopper) {
    yield* (yield* UnpaidOrderRepo).awaitPayment(order.id, settings.confirmationMinutes * 60)
    return order
  }
  // A free order has nothing for an operator to capture.
  const later = settings.capture === "manual" && capturable && order.grandTotal > 0
  return later ? order : yield* captureAndSettle(payload, order, payments, intents.map(({ id }) => id))
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

/** The priced cart that an earlier run stored; undefined once it is no longer kept. */
const pinned = Effect.fn("Checkout.pinned")(function*({ checkoutId }: CheckoutPayload) {
  const [hold] = yield* (yield* ReservationRepo).holds([checkoutId])
  return hold === undefined || hold.pricing === "null" ? undefined : yield* decodePricedCart(hold.pricing)
})

/** Continues a checkout whose earlier run created the order and died: pays the order or finishes undoing it. */
const resume = Effect.fn("Checkout.resume")(function*(payload: CheckoutPayload) {
  const stored = yield* (yield* OrderRepo).find(payload.checkoutId)
  if (stored === undefined) return yield* Effect.die(new Error(`order ${payload.checkoutId} exists but cannot be read`))
  const { order } = stored
  const priced = yield* pinned(payload)
  const rejected = priced?.rejectedCodes ?? []
  // The run that died may not have informed the plugins.
  const created = (current: Order) =>
    Effect.flatMap(CheckoutExtensions, (extensions) => extensions.created(current, priced?.extensions))
  const payments = yield* paymentsOf(payload, {
    ...order,
    paymentProvider: stored.payments.at(-1)?.provider,
    tenders: priced?.tenders
  })
  const undoPayment = voidPayments(payments, stored.payments.map(({ intentId }) => intentId))
  if (order.amountCaptured !== null) {
    // A paid order stays, even if the provider answers differently now. If it was cancelled, release this run's claim
    // of its cart.
    if (order.status === "cancelled") yield* (yield* BasketRepo).release(payload.request.cartId, payload.checkoutId)
    const secret = yield* clientSecretOf(payments)
    const delivered = yield* (yield* Fulfillments).deliver(order)
    yield* created(delivered)
    return yield* finish(delivered, secret, yield* afterOrder(delivered), rejected)
  }
  if (order.status === "cancelled") {
    yield* cancelOrder(orderOf(payload), undoPayment)
    return yield* CheckoutFailed.of("Payment capture failed.")
  }
  const authorized = yield* Effect.result(authorize(payments))
  if (Result.isFailure(authorized)) {
    // The order exists, so the amounts were authorized before. Void these authorizations, even if a provider now
    // answers differently.
    const paid = yield* cancelOrder(orderOf(payload), undoPayment)
    if (paid === undefined) return yield* authorizationFailed(authorized.failure)
    yield* created(paid)
    return yield* finish(paid, null, yield* afterOrder(paid), rejected)
  }
  const intents = authorized.success
  yield* created(order)
  const hookErrors = yield* afterOrder(order)
  const paid = yield* pay(payload, order, payments, intents)
  return yield* finish(paid, mainIntent(intents).clientSecret, hookErrors, rejected)
})

/** Turns a claimed cart into a paid order. Each step names the compensation of the steps before it. */
const purchase = Effect.fn("Checkout.purchase")(function*(payload: CheckoutPayload, cart: ClaimedCart) {
  const pricedCart = yield* priceAndReserve(payload, cart).pipe(
    // Release after a refusal too: a reservation that timed out may still be granted, and the tombstone stops it.
    Effect.tapError(() => releaseCheckout(payload, voidEarlier(payload)))
  )
  yield* passing("reserved")
  const payments = yield* paymentsOf(payload, pricedCart)
  const intents = yield* authorize(payments).pipe(
    Effect.tapError((error) => releaseCheckout(payload, () => voidAuthorized(payments, error))),
    Effect.mapError(authorizationFailed)
  )
  const main = mainIntent(intents)
  yield* passing("authorized")
  const order = yield* beforeCreate(payload, pricedCart, main).pipe(
    Effect.flatMap((final) => createOrder(payload, final, payments, intents)),
    Effect.tapError(() => releaseCheckout(payload, () => voidPayments(payments, intents.map(({ id }) => id))))
  )
  yield* passing("created")
  yield* (yield* CheckoutExtensions).created(order, pricedCart.extensions)
  const hookErrors = yield* afterOrder(order)
  const paid = yield* pay(payload, order, payments, intents)
  return yield* finish(paid, main.clientSecret, hookErrors, pricedCart.rejectedCodes)
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
