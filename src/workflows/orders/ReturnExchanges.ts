import { Context, DateTime, Effect, Layer, Result } from "effect"
import { CreateOrderRepo } from "../../domain/checkout/CreateOrderRepo.ts"
import { pendingOrder } from "../../domain/checkout/PendingOrder.ts"
import { mayWait, type PricedCart } from "../../domain/checkout/PricedCart.ts"
import type { OrderStock } from "../../domain/inventory/Inventory.ts"
import { OrderNotFound, type StoredOrder } from "../../domain/orders/Order.ts"
import { OrderRepo } from "../../domain/orders/OrderRepo.ts"
import { exchangeMethod, noPayment, type OrderPayment } from "../../domain/orders/Tender.ts"
import { CaptureRepo } from "../../domain/payments/CaptureRepo.ts"
import { calculateRefund } from "../../domain/payments/RefundCalculation.ts"
import { RefundCalculationRepo } from "../../domain/payments/RefundCalculationRepo.ts"
import { type Actor, CurrentActor } from "../../domain/platform/access/Actor.ts"
import { addressIn } from "../../domain/platform/addresses/PostalAddress.ts"
import type { OrderId, RefundId, ReturnId } from "../../domain/platform/ids/Id.ts"
import { nextStatus, type Return, type ReturnExchange } from "../../domain/returns/Return.ts"
import { ReturnRepo } from "../../domain/returns/ReturnRepo.ts"
import { stepped } from "../../domain/returns/Returns.ts"
import { Captures } from "../checkout/Captures.ts"
import { reservationExpired } from "../checkout/CheckoutCart.ts"
import { withBackorders } from "../checkout/CheckoutOrder.ts"
import { RefundSettlement } from "../payments/RefundSettlement.ts"
import { ManualOrders, type PlacedRequest } from "./ManualOrders.ts"
import { reasonOf, receivedUnits, withoutRecord } from "./ReturnRefunds.ts"

/** The new order as it is priced, with the order whose goods came back. */
interface Replacement {
  readonly id: OrderId
  readonly orderNumber: string
  readonly request: PlacedRequest
  readonly pricedCart: PricedCart
  readonly sold: StoredOrder
}

const requestFor = (
  { order }: StoredOrder,
  { lines }: ReturnExchange,
  email: string | null,
  { number }: Return
): PlacedRequest => {
  const { billingAddress, locale } = order.metadata
  return {
    currency: order.currency,
    lineItems: lines,
    email,
    customerId: order.customerId,
    shippingAddress: addressIn(order.shippingAddress),
    billingAddress: addressIn(billingAddress),
    metadata: {
      ...(billingAddress === undefined ? {} : { billingAddress }),
      ...(locale === undefined ? {} : { locale }),
      exchangeOf: number
    }
  }
}

const creditTender = (intentId: RefundId, amount: number, { number }: Return): ReadonlyArray<OrderPayment> =>
  amount === 0 ? [] : [{
    position: 0,
    provider: exchangeMethod,
    label: `Return ${number}`,
    intentId,
    isStoredValue: false,
    amount,
    captured: null,
    refunded: 0,
    needsShopper: false
  }]

const orderOf = Effect.fnUntraced(
  function*({ id, orderNumber, pricedCart, request }: Replacement, payments: ReadonlyArray<OrderPayment>) {
    const { organizationId } = yield* CurrentActor
    const [payment] = payments
    const order = pendingOrder(
      pricedCart,
      request,
      {
        id,
        organizationId,
        orderNumber,
        paymentIntentId: payment?.intentId ?? null,
        paymentMethodId: payment?.provider ?? null,
        idempotencyKey: null,
        placedAt: DateTime.toDateUtc(yield* DateTime.now),
        metadata: {}
      },
      payment === undefined ? noPayment : { ...noPayment, paymentProvider: exchangeMethod, storedPayments: payments }
    )
    return mayWait(pricedCart) ? yield* withBackorders(order) : order
  }
)

/** Prices for the order's customer, which the permission for returns suffices for. */
const asShop = (actor: Actor): Actor => ({ ...actor, permissions: [...actor.permissions, "customers:read"] })

/** Writes the credit of the new order and the refund of the rest (contract-commerce §12). */
const crediting = Effect.map(
  RefundCalculationRepo,
  (calculations) =>
    Effect.fnUntraced(
      function*(before: Return, { orderNumber, pricedCart }: Replacement, { givenOutside }: ReturnExchange) {
        const write = (decide: Parameters<typeof calculations.write>[2], outside: typeof givenOutside) =>
          calculations.write(before.orderId, reasonOf(before), decide, { returnId: before.id, givenOutside: outside })
        const credit = yield* write(
          (order) =>
            Result.map(calculateRefund(order, { lines: receivedUnits(before) }), (worth) => ({
              ...worth,
              amount: Math.min(worth.amount, pricedCart.grandTotal)
            })),
          { means: "Exchange", reference: orderNumber }
        )
        const { amount, lines } = credit.decided
        const left = lines.reduce((sum, line) => sum + line.amount, -amount)
        const rest = left === 0
          ? undefined
          : yield* write((order) => calculateRefund(order, { amount: left }), givenOutside)
        return { refundId: credit.refundId, amount, restId: rest?.refundId }
      }
    )
)

/**
 * Writes step, refunds and order in one transaction. An order that is paid by it is claimed for its capture, so that the
 * service goes on after a crash.
 */
const writing = Effect.gen(function*() {
  const [returns, creates, captures, credit] = yield* Effect.all([ReturnRepo, CreateOrderRepo, CaptureRepo, crediting])
  return (of: Return, asked: ReturnExchange, replacement: Replacement, email: string | null) =>
    returns.changeWith(
      of.orderId,
      of.id,
      Effect.fnUntraced(function*(before) {
        const record = yield* stepped(before, "exchange")
        const inner = Effect.gen(function*() {
          const { amount, refundId, restId } = yield* credit(before, replacement, asked)
          const payments = creditTender(refundId, amount, before)
          const order = yield* orderOf(replacement, payments)
          const { pricedCart, sold: { cartSecretHash: secretHash } } = replacement
          const made = { order, pricedCart, email, secretHash, ...(payments.length === 0 ? {} : { payments }) }
          if ((yield* creates.createManual(made, Effect.void)) !== "created") return yield* reservationExpired
          const isPaid = amount > 0 && amount === order.grandTotal
          const claimed = isPaid ? yield* captures.claim(order.id, undefined) : undefined
          return { order, claimed, refunds: [refundId, ...(restId === undefined ? [] : [restId])] }
        })
        const done = yield* Effect.updateService(inner, CurrentActor, withoutRecord)
        return { ...done, record: { ...record, refundId: done.refunds[0] ?? null, replacementOrderId: done.order.id } }
      })
    )
})

/** Goods that came back, exchanged for others (contract-commerce §12). */
export class ReturnExchanges extends Context.Service<ReturnExchanges>()("stoa/workflows/orders/ReturnExchanges", {
  make: Effect.gen(function*() {
    const [returns, orders, manual] = yield* Effect.all([ReturnRepo, OrderRepo, ManualOrders])
    const [captures, settlement] = yield* Effect.all([Captures, RefundSettlement])
    const write = yield* writing
    const stock = yield* Effect.context<OrderStock>()

    /**
     * Creates the order that the received goods are exchanged for. They pay what they are worth of it; what is left of
     * their worth is refunded. 404, 409; 422 for what cannot be sold or is out of stock: nothing has changed then.
     */
    const exchange = Effect.fn("ReturnExchanges.exchange")(
      function*(orderId: OrderId, id: ReturnId, asked: ReturnExchange) {
        const actor = yield* CurrentActor
        const { organizationId } = actor
        const before = yield* returns.find(orderId, id)
        yield* Effect.fromResult(nextStatus("exchange", before.status))
        const sold = (yield* orders.find(orderId)) ?? (yield* new OrderNotFound())
        const email = yield* returns.emailOf(orderId)
        const request = requestFor(sold, asked, email, before)
        const placed = manual.place(
          request,
          null,
          (id, pricedCart, orderNumber) =>
            Effect.provideService(
              write(before, asked, { id, orderNumber, request, pricedCart, sold }, email),
              CurrentActor,
              actor
            )
        )
        const { claimed, order, record, refunds } = yield* Effect.updateService(placed, CurrentActor, asShop)
        yield* Effect.forEach(refunds, (refundId) => settlement.settle({ refundId, organizationId }), { discard: true })
        if (claimed !== undefined) yield* captures.finish(order.id, claimed)
        return record
      },
      Effect.provideContext(stock)
    )

    return { exchange }
  })
}) {
  static readonly layer = Layer.effect(ReturnExchanges, ReturnExchanges.make)
}
