import { Context, Effect, Layer, Option } from "effect"
import { WorkflowEngine } from "effect/workflow"
import type { OrderPaymentRequest } from "../../domain/checkout/Checkout.ts"
import { foreignOrder, type Order, OrderNotFound, type StoredOrder } from "../../domain/orders/Order.ts"
import { OrderRepo } from "../../domain/orders/OrderRepo.ts"
import { isHolder, Orders } from "../../domain/orders/Orders.ts"
import { exchangeMethod } from "../../domain/orders/Tender.ts"
import { PaymentAdapters, type PaymentIntent } from "../../domain/payments/PaymentAdapter.ts"
import { CurrentActor, holds, refusalOf } from "../../domain/platform/access/Actor.ts"
import { CheckoutFailed } from "../../domain/platform/errors/ApiErrors.ts"
import { conflict } from "../../domain/platform/errors/ErrorKinds.ts"
import { newId, type OrderId, PaymentId } from "../../domain/platform/ids/Id.ts"
import { adapterOf, answerWithin } from "../payments/ProviderCalls.ts"
import { StatusChanges } from "../payments/StatusChanges.ts"
import { LateCapture } from "./Captures.ts"
import { paymentRefused } from "./CheckoutPayment.ts"
import { PayOrder } from "./PayOrder.ts"

class OrderPaid extends conflict("OrderPaid", "The order is paid already.") {}
class OrderEnded extends conflict(
  "OrderEnded",
  (status: string) => `The order is ${status}: only a pending order can be paid or cancelled here.`
) {}
class PaymentUnderWay
  extends conflict("PaymentUnderWay", "A payment of the order is under way. Read the order, then try again.")
{}
class SplitPayment extends conflict(
  "SplitPayment",
  "The order is split into several payments. Cancel it and check out again to pay another way."
) {}
class NotPayable
  extends conflict("NotPayable", "The order is a draft or comes from another system: it cannot be paid here.")
{}

const refusalToPay = ({ order, paymentClaimId, payments }: StoredOrder) => {
  if (order.amountCaptured !== null) return new OrderPaid()
  if (order.status !== "pending") return new OrderEnded(order.status)
  if (order.isDraft === true || order.importedAt !== undefined) return new NotPayable()
  if (paymentClaimId !== null) return new PaymentUnderWay()
  if (order.amountDue === 0) return new OrderPaid()
  const others = payments.filter(({ provider }) => provider !== exchangeMethod)
  return others.length > 1 || others.some(({ isStoredValue }) => isStoredValue) ? new SplitPayment() : undefined
}

/** Shows the order's holder how to confirm its payment. */
export const withAction = (
  order: Order,
  { clientSecret, redirectUrl = null }: {
    readonly clientSecret: string | null
    readonly redirectUrl?: string | null | undefined
  }
): Order =>
  order.payment.status !== "requires_action" ? order : {
    ...order,
    payment: {
      ...order.payment,
      clientSecret,
      nextAction: { type: redirectUrl === null ? "confirm" : "redirect", url: redirectUrl }
    }
  }

const findIntent = ({ intentId, provider }: StoredOrder["payments"][number]) =>
  Effect.flatMap(
    adapterOf(provider),
    ({ find }) => find === undefined ? Effect.succeed(undefined) : answerWithin(find(intentId), "5 seconds")
  ).pipe(
    Effect.catch(({ message }) =>
      Effect.as(Effect.logWarning(`a payment could not be read: ${message}`), undefined as PaymentIntent | undefined)
    )
  )

const heldOrder = Effect.fnUntraced(function*(orders: OrderRepo["Service"], orderId: OrderId) {
  const actor = yield* CurrentActor
  const stored = yield* orders.find(orderId)
  if (stored === undefined) return yield* new OrderNotFound()
  if ((yield* isHolder(stored)) || holds(actor, "orders:update")) return stored
  return yield* holds(actor, "orders:read") ? refusalOf(actor, "orders:update") : foreignOrder(actor)
})

/** Asks the provider only for a holder whose payment waits for them. */
const showing = (orders: OrderRepo["Service"], adapters: PaymentAdapters["Service"]) =>
  Effect.fn("OrderPayments.shownToHolder")(
    function*(order: Order) {
      if (order.payment.status !== "requires_action") return order
      const stored = yield* orders.find(order.id)
      const waiting = stored?.payments.find(({ needsShopper }) => needsShopper)
      if (stored === undefined || waiting === undefined || !(yield* isHolder(stored))) return order
      const intent = yield* findIntent(waiting)
      return intent?.status === "requires_action" ? withAction(order, intent) : order
    },
    Effect.provideService(PaymentAdapters, adapters)
  )

/** Cancels an unpaid order: stock, promotion codes and cart come back. 404; 409 if it is paid or ended. */
const cancelling = (orders: OrderRepo["Service"], statuses: StatusChanges["Service"]) =>
  Effect.fn("OrderPayments.cancel")(function*(orderId: OrderId) {
    const stored = yield* heldOrder(orders, orderId)
    const { order } = stored
    if (order.status !== "pending") return yield* new OrderEnded(order.status)
    if (order.amountCaptured !== null || order.payment.status === "authorized") return yield* new OrderPaid()
    return yield* statuses.cancelUnpaid(order.id, (yield* isHolder(stored)) ? "cancelled_by_customer" : null)
  })

const storedValueRefused = CheckoutFailed.of("Gift cards and other stored value are accepted by the checkout only.", {
  reason: "method_not_accepted",
  field: "paymentMethodId"
})

const notCaptured = CheckoutFailed.of(
  "The payment could not be captured, and the order was cancelled. Place it again.",
  {
    reason: "order_cancelled"
  }
)

/** Payments of unpaid orders by their holders (contract-commerce §10). */
export class OrderPayments extends Context.Service<OrderPayments>()("stoa/workflows/checkout/OrderPayments", {
  make: Effect.gen(function*() {
    const orders = yield* OrderRepo
    const access = yield* Orders
    const statuses = yield* StatusChanges
    const adapters = yield* PaymentAdapters
    const engine = yield* WorkflowEngine.WorkflowEngine
    const shownToHolder = showing(orders, adapters)

    /** The order as the attempt left it, or why it cannot be paid now. */
    const after = Effect.fnUntraced(function*(orderId: OrderId, refused: boolean) {
      const stored = yield* orders.find(orderId)
      if (stored === undefined) return yield* new OrderNotFound()
      if (refused) return yield* refusalToPay(stored) ?? new PaymentUnderWay()
      return stored.order.status === "cancelled"
        ? yield* new OrderEnded(stored.order.status)
        : yield* shownToHolder(stored.order)
    })

    /** The time-outs end the wait only; the executions continue. */
    const run = Effect.fnUntraced(
      function*(payload: typeof PayOrder.payloadSchema.Type) {
        const outcome = Option.getOrUndefined(yield* Effect.timeoutOption(PayOrder.execute(payload), "10 seconds"))
        if (outcome?._tag !== "Attached" || !outcome.captures) return outcome
        const { actor: { organizationId }, orderId, paymentId } = payload
        const capture = LateCapture.execute({ orderId, organizationId, paymentId })
        const captured = Option.getOrUndefined(yield* Effect.timeoutOption(capture, "5 seconds"))
        return captured === "cancelled" ? "not-captured" as const : outcome
      },
      Effect.provideService(WorkflowEngine.WorkflowEngine, engine)
    )

    /**
     * Pays the order another way; its earlier payment is voided first. `admission` limits the attempts of an order.
     * 404; 409 if it is paid, ended, split, or being paid; 422 if the payment is refused.
     */
    const pay = Effect.fn("OrderPayments.pay")(function*<E>(
      orderId: OrderId,
      { paymentMethodId: methodId, paymentMethodToken }: OrderPaymentRequest,
      admission: Effect.Effect<void, E>
    ) {
      const stored = yield* heldOrder(orders, orderId)
      yield* admission
      const refusal = refusalToPay(stored)
      if (refusal !== undefined) return yield* refusal
      const { adapter, token } = adapters.select(methodId)
      if (adapter.isStoredValue === true) {
        return yield* storedValueRefused
      }
      const actor = yield* CurrentActor
      const sent = paymentMethodToken ?? token
      const outcome = yield* run({
        orderId,
        // A repeat of a request that died joins its payment.
        paymentId: PaymentId.make(actor.executionId ?? newId()),
        provider: adapter.providerId,
        methodId,
        token: sent === null ? null : adapter.conceal?.(sent) ?? sent,
        actor: { ...actor, cartSecret: null }
      })
      if (outcome === "not-captured") {
        return yield* notCaptured
      }
      if (outcome?._tag === "Declined") {
        return yield* paymentRefused(outcome)
      }
      return yield* after(orderId, outcome?._tag === "Busy" || outcome?._tag === "Ended")
    })

    return {
      /** Runs `orders.afterGet`. 404, 403. */
      get: (idOrNumber: string) => Effect.flatMap(access.get(idOrNumber), shownToHolder),
      shownToHolder,
      pay,
      cancel: cancelling(orders, statuses)
    }
  })
}) {
  static readonly layer = Layer.effect(OrderPayments, OrderPayments.make)
}
