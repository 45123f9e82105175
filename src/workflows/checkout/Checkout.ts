import { Effect } from "effect"
import { CurrentActor } from "../../domain/access/Actor.ts"
import type { Decision } from "../../domain/checkout/Checkout.ts"
import { type ClaimedCart, ClaimRepo } from "../../domain/checkout/ClaimRepo.ts"
import { Decisions } from "../../domain/checkout/Decisions.ts"
import { readDecision, writeDecision } from "../../domain/checkout/DecisionText.ts"
import { PlaceRepo } from "../../domain/checkout/PlaceRepo.ts"
import { UnplaceRepo } from "../../domain/checkout/UnplaceRepo.ts"
import { CheckoutFailed } from "../../domain/errors/ApiErrors.ts"
import { Hooks } from "../../domain/hooks/Hooks.ts"
import { HoldRepo } from "../../domain/inventory/HoldRepo.ts"
import type { Order } from "../../domain/orders/Order.ts"
import { OrderRepo } from "../../domain/orders/OrderRepo.ts"
import { OrderStatusRepo } from "../../domain/orders/OrderStatusRepo.ts"
import { StoreSettings } from "../../domain/settings/StoreSettings.ts"
import { StockDeskClient } from "../../entities/StockDeskClient.ts"
import { type CheckoutPayload, type CheckoutResult, CheckoutWorkflow } from "./CheckoutWorkflow.ts"
import { claimCart } from "./ClaimStep.ts"
import { passing } from "./FaultPoint.ts"
import { authorize, capture, clientSecretOf, paymentOf, voidPayment } from "./PaymentStep.ts"
import { placeOrder } from "./PlaceStep.ts"

/** Runs `undo` when a step fails for good. A defect is no failure: the whole execution is repeated then. */
const undoing = <R2>(undo: Effect.Effect<unknown, never, R2>) => <A, E, R>(step: Effect.Effect<A, E, R>) =>
  Effect.catch(step, (error) => undo.pipe(Effect.andThen(passing("undone")), Effect.andThen(Effect.fail(error))))

const stockError = (
  error: { readonly _tag: string; readonly title?: string; readonly available?: number; readonly requested?: number }
) =>
  CheckoutFailed.of(
    error._tag === "StockShort"
      ? `Insufficient stock for ${error.title}. Available: ${error.available}, requested: ${error.requested}.`
      : error._tag === "HoldGone"
      ? "The reservation of the items has run out. Try again."
      : "The items could not be reserved in time. Try again."
  )

/** Decides, asks the hooks, and pins the decision with the stock: an earlier run's decision wins over this one. */
const decideAndReserve = Effect.fn("Checkout.reserve")(function*(payload: CheckoutPayload, cart: ClaimedCart) {
  const { checkoutId, request } = payload
  const decided = yield* (yield* Decisions).decide(cart, request, payload.customerId)
  const hooked = yield* (yield* Hooks).before("checkout.beforePayment", checkoutData(payload, decided)).pipe(
    Effect.mapError((error) => CheckoutFailed.of(error.error.message))
  )
  const decision = { ...decided, metadata: hooked.metadata }
  const reserved = yield* (yield* StockDeskClient).reserve({
    holder: checkoutId,
    lines: decision.lines.map(({ entityId, quantity, title, variantId }) => ({
      sellableId: variantId ?? entityId,
      entityId,
      quantity,
      title
    })),
    ttlSeconds: (yield* StoreSettings).holdSeconds,
    decision: yield* writeDecision(decision)
  }).pipe(Effect.mapError(stockError))
  return reserved.fresh ? decision : yield* readDecision(reserved.decision)
})

/** What hooks see of a checkout (contract §0.5); they may change `metadata` and refuse. */
const checkoutData = ({ checkoutId, idempotencyKey, request }: CheckoutPayload, decision: Decision) => ({
  checkoutId,
  orderId: checkoutId,
  cartId: request.cartId,
  customerId: decision.customerId,
  currency: decision.currency,
  paymentMethodId: request.paymentMethodId,
  idempotencyKey,
  lineItems: decision.lines.map((line) => ({
    ...line,
    resolvedUnitPrice: line.unitPrice,
    resolvedTotal: line.totalPrice
  })),
  subtotal: decision.subtotal,
  discountTotal: decision.discountTotal,
  taxTotal: decision.taxTotal,
  shippingTotal: decision.shippingTotal,
  total: decision.grandTotal,
  promotionCodes: request.promotionCodes ?? [],
  appliedPromotions: decision.promotions,
  shippingAddress: request.shippingAddress ?? null,
  metadata: decision.metadata
})

/** Cancels an order whose money could not be taken: stock, usage and cart go back (contract §3.6). */
const unplace = Effect.fn("Checkout.unplace")(function*(payload: CheckoutPayload) {
  const { checkoutId: orderId, request } = payload
  yield* (yield* OrderStatusRepo).transition({
    orderId,
    from: "pending",
    to: "cancelled",
    reason: "payment_failed",
    authorizationEnded: true
  }).pipe(Effect.ignore)
  yield* (yield* UnplaceRepo).giveBack(orderId, request.cartId)
  // An earlier run had undone everything and died before it could say so: this one has claimed the cart once more.
  yield* (yield* ClaimRepo).giveBack(request.cartId, orderId)
})

/** Steps 4 and 5: take the money and write it down; whatever fails now cancels the order that was placed. */
const captureAndSettle = Effect.fn("Checkout.capture")(function*(
  payload: CheckoutPayload,
  order: Order,
  payment: Effect.Success<ReturnType<typeof paymentOf>>,
  intentId: string
) {
  const { adapter, request } = payment
  const captured = yield* capture(adapter, request, intentId).pipe(
    undoing(voidPayment(adapter, request, intentId)),
    undoing(unplace(payload))
  )
  yield* passing("captured")
  const updatedAt = yield* (yield* PlaceRepo).settle(order.id, intentId, captured.amountCaptured)
  if (updatedAt === undefined) {
    yield* Effect.andThen(voidPayment(adapter, request, intentId), unplace(payload))
    return yield* CheckoutFailed.of("The order was cancelled while it was being paid.")
  }
  yield* passing("settled")
  return { ...order, amountCaptured: captured.amountCaptured, updatedAt }
})

/** After the order is placed nothing may fail it any more: hooks report, they do not decide (contract §0.5). */
const afterHooks = Effect.fn("Checkout.afterHooks")(function*(order: Order) {
  const hooks = yield* Hooks
  const orderErrors = yield* hooks.after("orders.afterCreate", order)
  return [...orderErrors, ...yield* hooks.after("checkout.afterCreate", order)]
})

/** An earlier run placed the order and died: what is left is to take the money, or to finish undoing. */
const resume = Effect.fn("Checkout.resume")(function*(payload: CheckoutPayload) {
  const stored = yield* (yield* OrderRepo).find(payload.checkoutId)
  if (stored === undefined) return yield* Effect.die(new Error(`order ${payload.checkoutId} is placed and not there`))
  const { order } = stored
  const payment = yield* paymentOf(payload, order.grandTotal, order.customerId)
  const intentId = order.paymentIntentId ?? payload.checkoutId
  if (order.amountCaptured !== null) {
    // Paid: nothing the provider says, or does not say, may undo it any more.
    const secret = yield* clientSecretOf(payment)
    return answer(order, secret, yield* afterHooks(order), [])
  }
  if (order.status === "cancelled") {
    yield* voidPayment(payment.adapter, payment.request, intentId)
    yield* unplace(payload)
    return yield* CheckoutFailed.of("Payment capture failed.")
  }
  // Cancelled, when the earlier run was undoing the order and had voided the payment already.
  const intent = yield* authorize(payment.adapter, payment.request).pipe(undoing(unplace(payload)))
  const paid = intent.status === "requires_action" ? order : yield* captureAndSettle(payload, order, payment, intentId)
  return answer(paid, intent.clientSecret, yield* afterHooks(paid), [])
})

const answer = (
  order: Order,
  clientSecret: string | null,
  hookErrors: CheckoutResult["hookErrors"],
  rejectedCodes: CheckoutResult["rejectedCodes"]
): CheckoutResult => ({ order, clientSecret, hookErrors, rejectedCodes })

/** From the claimed cart to the paid order; each step names what undoes the ones before it. */
const purchase = Effect.fn("Checkout.purchase")(function*(payload: CheckoutPayload, cart: ClaimedCart) {
  const claims = yield* ClaimRepo
  const stock = yield* HoldRepo
  const release = stock.release(payload.checkoutId)
  const backToCart = claims.giveBack(payload.request.cartId, payload.checkoutId)
  // Stock is released even when the desk said no: a call that timed out may be granted later, the tombstone stops it.
  const decision = yield* decideAndReserve(payload, cart).pipe(undoing(release))
    .pipe(undoing(backToCart))
  yield* passing("reserved")
  const payment = yield* paymentOf(payload, decision.grandTotal, decision.customerId)
  const { adapter, request } = payment
  const intent = yield* authorize(adapter, request).pipe(undoing(release), undoing(backToCart))
  yield* passing("authorized")
  const order = yield* beforeCreate(payload, decision, intent.id).pipe(
    Effect.flatMap((final) => placeOrder(payload, final, intent, adapter.providerId)),
    undoing(voidPayment(adapter, request, intent.id)),
    undoing(release),
    undoing(backToCart)
  )
  yield* passing("placed")
  const paid = intent.status === "requires_action"
    ? order
    : yield* captureAndSettle(payload, order, payment, intent.id)
  return answer(paid, intent.clientSecret, yield* afterHooks(paid), decision.rejectedCodes)
})

const beforeCreate = Effect.fn("Checkout.beforeCreate")(function*(
  payload: CheckoutPayload,
  decision: Decision,
  paymentIntentId: string
) {
  const hooks = yield* Hooks
  const data = { ...checkoutData(payload, decision), paymentIntentId }
  const hooked = yield* Effect.flatMap(
    hooks.before("checkout.beforeCreate", data),
    (changed) => hooks.before("orders.beforeCreate", changed)
  ).pipe(Effect.mapError((error) => CheckoutFailed.of(error.error.message)))
  return { ...decision, metadata: hooked.metadata }
})

export const checkoutLayer = CheckoutWorkflow.toLayer((payload) =>
  Effect.gen(function*() {
    const cart = yield* claimCart(payload)
    if (cart.placed) return yield* resume(payload)
    yield* passing("claimed")
    return yield* purchase(payload, cart)
  }).pipe(Effect.tapError(() => passing("failed")), Effect.provideService(CurrentActor, payload.actor))
)
