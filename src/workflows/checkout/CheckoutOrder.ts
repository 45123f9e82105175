import { DateTime, Effect, Result } from "effect"
import { CreateOrderRepo } from "../../domain/checkout/CreateOrderRepo.ts"
import { pendingOrder } from "../../domain/checkout/PendingOrder.ts"
import { mayWait, type PricedCart } from "../../domain/checkout/PricedCart.ts"
import { isDigital } from "../../domain/fulfillment/Fulfillment.ts"
import { Fulfillments } from "../../domain/fulfillment/Fulfillments.ts"
import { OrderStock } from "../../domain/inventory/Inventory.ts"
import type { Order } from "../../domain/orders/Order.ts"
import { OrderNumbers } from "../../domain/orders/OrderNumbers.ts"
import { OrderRepo } from "../../domain/orders/OrderRepo.ts"
import { paidInFull, withWaiting } from "../../domain/orders/ShownOrder.ts"
import type { OrderPayment } from "../../domain/orders/Tender.ts"
import { UnpaidOrderRepo } from "../../domain/orders/UnpaidOrderRepo.ts"
import type { PaymentIntent } from "../../domain/payments/PaymentAdapter.ts"
import { CurrentActor, systemActor } from "../../domain/platform/access/Actor.ts"
import { CheckoutFailed } from "../../domain/platform/errors/ApiErrors.ts"
import { Hooks } from "../../domain/platform/hooks/Hooks.ts"
import { StoreSettings } from "../../domain/platform/settings/StoreSettings.ts"
import { conclude } from "./Captures.ts"
import { reservationExpired } from "./CheckoutCart.ts"
import { cancelOrder, capture, mainIntent, voidPayments } from "./CheckoutPayment.ts"
import type { CheckoutTender } from "./CheckoutTenders.ts"
import { type CheckoutRun, passing } from "./CheckoutWorkflow.ts"

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

/** The order with the units of it that wait for stock. */
export const withBackorders = Effect.fnUntraced(function*(order: Order) {
  return { ...order, lineItems: withWaiting(order.lineItems, yield* (yield* OrderStock).waiting(order.id)) }
})

/** Creates the order in one transaction. It has the checkout's id, so it cannot be created twice (contract §4). */
export const createOrder = Effect.fn("Checkout.create")(
  function*(
    { actor, checkoutId, idempotencyKey, inTables, owner, request }: CheckoutRun,
    pricedCart: PricedCart,
    payments: ReadonlyArray<CheckoutTender>,
    intents: ReadonlyArray<PaymentIntent>
  ) {
    const { asksShopper, id: paymentIntentId } = mainIntent(intents)
    const provider = payments.at(-1)?.adapter.providerId ?? ""
    const stored = storedPayments(payments, intents)
    const pending = pendingOrder(pricedCart, request, {
      id: checkoutId,
      organizationId: actor.organizationId,
      orderNumber: yield* (yield* OrderNumbers).next,
      paymentIntentId,
      paymentMethodId: request.paymentMethodId,
      idempotencyKey,
      placedAt: DateTime.toDateUtc(yield* DateTime.now),
      metadata: { cartId: request.cartId, checkoutId, paymentIntentId }
    }, { paymentProvider: provider, awaitsShopper: asksShopper, storedPayments: stored.length === 0 ? null : stored })
    const order = mayWait(pricedCart) ? yield* withBackorders(pending) : pending
    const created = yield* (yield* CreateOrderRepo).create({
      order,
      pricedCart,
      cartId: request.cartId,
      email: request.email,
      owner,
      provider,
      payments: stored
    }, inTables)
    if (created === "reservation-expired") return yield* reservationExpired
    return created === "exists" ? (yield* (yield* OrderRepo).find(order.id))?.order ?? order : order
  },
  (effect, run) => Effect.provideService(effect, CurrentActor, run.actor)
)

type Payments = ReadonlyArray<CheckoutTender>

export interface Finished {
  readonly order: Order
  readonly ended: boolean
}

const confirmsItself = (payments: Payments) => payments.every(({ adapter }) => adapter.verifyWebhook === undefined)

const endsWithCapture = (order: Order, payments: Payments) =>
  Effect.map(
    Hooks,
    (hooks) =>
      !confirmsItself(payments) && !order.lineItems.some(({ entityType }) => isDigital(entityType)) &&
      !hooks.has("checkout.afterCreate")
  )

/** Captures, records and fulfils. If a capture fails, cancels the order and voids the payments. */
const captureAndSettle = Effect.fn("Checkout.capture")(
  function*(run: CheckoutRun, order: Order, payments: Payments, intents: ReadonlyArray<string>) {
    const undoPayment = voidPayments(payments, intents)
    const captured = yield* Effect.result(capture(payments, intents))
    if (Result.isFailure(captured)) {
      const paid = yield* cancelOrder(order.id, undoPayment, run)
      return { order: paid ?? (yield* captured.failure), ended: false } satisfies Finished
    }
    yield* passing("captured")
    const ended = yield* endsWithCapture(order, payments)
    const settled = yield* (yield* CreateOrderRepo).settleCheckout(run, ended, intents.at(-1) ?? "", captured.success)
    if (settled === undefined) {
      yield* cancelOrder(order.id, undoPayment, run)
      return yield* CheckoutFailed.of("The order was cancelled while it was being paid.", { reason: "order_cancelled" })
    }
    yield* passing("settled")
    const paid = paidInFull({ ...order, ...settled })
    const concluded = confirmsItself(payments)
      ? yield* Effect.provideService(conclude(paid), CurrentActor, systemActor(order.organizationId))
      : yield* (yield* Fulfillments).deliver(paid)
    return { order: concluded, ended } satisfies Finished
  }
)

export const leavesCapture = (capture: StoreSettings["Service"]["capture"], { grandTotal }: Order): boolean =>
  capture === "manual" && grandTotal > 0

/** Waits for the shopper's confirmation, leaves the capture to an operator, or captures now. */
export const pay = Effect.fn("Checkout.pay")(function*(
  run: CheckoutRun,
  order: Order,
  payments: Payments,
  intents: ReadonlyArray<PaymentIntent>
) {
  const settings = yield* StoreSettings
  const { asksShopper, capturable } = mainIntent(intents)
  if (asksShopper) {
    const expiresAt = yield* (yield* UnpaidOrderRepo).awaitPayment(order.id, settings.confirmationMinutes * 60)
    return { order: { ...order, payment: { ...order.payment, expiresAt } }, ended: false } satisfies Finished
  }
  if (capturable && leavesCapture(settings.capture, order)) return { order, ended: false } satisfies Finished
  return yield* captureAndSettle(run, order, payments, intents.map(({ id }) => id))
})
