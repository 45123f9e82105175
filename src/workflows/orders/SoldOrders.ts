import { Context, DateTime, Effect, Layer, Schema } from "effect"
import { v5 } from "uuid"
import { itemLabel } from "../../domain/carts/Line.ts"
import type { AlreadyTaxed } from "../../domain/checkout/AlreadyTaxed.ts"
import { CheckoutPricing } from "../../domain/checkout/CheckoutPricing.ts"
import { pendingOrder } from "../../domain/checkout/PendingOrder.ts"
import {
  isCounted,
  payableByStoredValue,
  type PricedCart,
  unpayableByStoredValue
} from "../../domain/checkout/PricedCart.ts"
import { basketWithout, Quotes } from "../../domain/checkout/Quotes.ts"
import { type PaidTender, SoldGoods } from "../../domain/checkout/SoldGoods.ts"
import { SoldOrderRepo } from "../../domain/checkout/SoldOrderRepo.ts"
import { Inventory } from "../../domain/inventory/Inventory.ts"
import type { PostingReference } from "../../domain/inventory/StockPosting.ts"
import type { Order } from "../../domain/orders/Order.ts"
import { OrderNumbers } from "../../domain/orders/OrderNumbers.ts"
import { OrderRepo } from "../../domain/orders/OrderRepo.ts"
import { OrderStatusRepo } from "../../domain/orders/OrderStatusRepo.ts"
import type { OrderPayment } from "../../domain/orders/Tender.ts"
import { PaymentAdapters } from "../../domain/payments/PaymentAdapter.ts"
import { type Actor, CurrentActor, requireAnyOf } from "../../domain/platform/access/Actor.ts"
import { ValidationFailed } from "../../domain/platform/errors/ApiErrors.ts"
import { conflict, invalid } from "../../domain/platform/errors/ErrorKinds.ts"
import { Hooks } from "../../domain/platform/hooks/Hooks.ts"
import { OrderId } from "../../domain/platform/ids/Id.ts"
import { issuesOf } from "../../domain/platform/text/Issues.ts"

class NotPaid extends invalid("NotPaid", "tenders", (total: number) => `must come to the order's total of ${total}`) {}
class UnknownMethod extends invalid(
  "UnknownMethod",
  (index: number, _: string) => `tenders.${index}.method`,
  (_: number, method: string) => `"${method}" is no payment method of this deployment`
) {}
class StoredValueByItself extends invalid(
  "StoredValueByItself",
  "tenders",
  (items: string) => `tenders must not pay for ${items} with a gift card or other stored value.`
) {}
class ReferenceUsed extends conflict(
  "ReferenceUsed",
  ({ id, type }: PostingReference) => `The ${type} ${id} has an order already, of another sale.`
) {}

const orderIdOf = (organizationId: string, { id, type }: PostingReference): OrderId =>
  OrderId.make(v5(JSON.stringify([organizationId, type, id]), v5.URL))

const withoutRecord = ({ executionId: _, ...actor }: Actor): Actor => actor

const decode = Schema.decodeUnknownEffect(Schema.toType(SoldGoods), { errors: "all" })

const checked = (sold: SoldGoods) => Effect.mapError(decode(sold), (error) => ValidationFailed.issues(issuesOf(error)))

const totalOf = (tenders: ReadonlyArray<Pick<PaidTender, "amount">>) =>
  tenders.reduce((sum, { amount }) => sum + amount, 0)

const path = ["pending", "confirmed", "processing", "fulfilled"] as const

const paymentsOf = Effect.fnUntraced(
  function*(adapters: PaymentAdapters["Service"], tenders: ReadonlyArray<PaidTender>) {
    const payments: Array<OrderPayment> = []
    for (const [index, { amount, label, method, reference }] of tenders.entries()) {
      const adapter = adapters.byProvider(method)
      if (adapter === undefined) return yield* new UnknownMethod(index, method)
      if (amount === 0) continue
      payments.push({
        position: payments.length,
        provider: method,
        label: label ?? method,
        intentId: reference ?? "",
        isStoredValue: adapter.isStoredValue ?? false,
        amount,
        captured: null,
        refunded: 0,
        needsShopper: false
      })
    }
    return payments
  }
)

/** Takes what the seller says of its payments; only stored value can be taxed before. */
const alreadyTaxedBy =
  (adapters: PaymentAdapters["Service"], tenders: ReadonlyArray<PaidTender>): AlreadyTaxed => ({ most }) => {
    const taxed = tenders.filter(({ method, singlePurpose }) =>
      singlePurpose === true && adapters.byProvider(method)?.isStoredValue === true
    )
    return Effect.succeed(Math.min(most, totalOf(taxed)))
  }

/** Takes the goods of an order out of the warehouse; whether less than nothing is left of one. */
const takeGoods = Effect.fnUntraced(function*(order: Order, pricedCart: PricedCart, { warehouseId }: SoldGoods) {
  const lines = pricedCart.lines.filter(isCounted).map((line) => ({
    entityId: line.entityId,
    variantId: line.variantId,
    warehouseId,
    delta: -line.quantity,
    type: "sale" as const,
    allowNegative: true
  }))
  const posted = lines.length === 0 ? [] : yield* (yield* Inventory).post({ type: "order", id: order.id }, lines)
  return posted.some(({ quantityOnHand }) => quantityOnHand < 0)
})

const fulfil = Effect.fnUntraced(function*(orderId: OrderId) {
  const statuses = yield* OrderStatusRepo
  return yield* Effect.forEach(path.slice(1), (to, index) =>
    Effect.map(
      statuses.transition({ orderId, from: path[index] ?? "pending", to, reason: "sold" }),
      ({ order }) => order
    ))
})

/** Orders of goods that have left already (contract, plugins §17.10-11). */
export class SoldOrders extends Context.Service<SoldOrders>()("stoa/workflows/orders/SoldOrders", {
  make: Effect.gen(function*() {
    const [quotes, pricing, numbers, repo] = yield* Effect.all([Quotes, CheckoutPricing, OrderNumbers, SoldOrderRepo])
    const orders = yield* OrderRepo
    const services = yield* Effect.context<OrderStatusRepo | Inventory>()
    const [adapters, hooks] = yield* Effect.all([PaymentAdapters, Hooks])

    const existing = Effect.fnUntraced(function*(id: OrderId, sold: SoldGoods) {
      const same = yield* repo.isSame(id, sold)
      if (same === false) return yield* new ReferenceUsed(sold.reference)
      return same === undefined ? undefined : (yield* orders.find(id))?.order
    })

    const newOrder = Effect.fnUntraced(function*(id: OrderId, sold: SoldGoods, pricedCart: PricedCart) {
      const { organizationId } = yield* CurrentActor
      const payments = yield* paymentsOf(adapters, sold.tenders)
      const stored = payments.filter(({ isStoredValue }) => isStoredValue)
      if (totalOf(sold.tenders) !== pricedCart.grandTotal) return yield* new NotPaid(pricedCart.grandTotal)
      if (totalOf(stored) > payableByStoredValue(pricedCart)) {
        return yield* new StoredValueByItself(unpayableByStoredValue(pricedCart).map(itemLabel).join("; "))
      }
      const { intentId = null, provider = null } = payments.at(-1) ?? {}
      const order = pendingOrder(pricedCart, sold, {
        id,
        organizationId,
        orderNumber: yield* numbers.next,
        paymentIntentId: intentId,
        paymentMethodId: provider,
        idempotencyKey: null,
        placedAt: sold.soldAt ?? DateTime.toDateUtc(yield* DateTime.now),
        metadata: { reference: sold.reference }
      }, { paymentProvider: provider, awaitsShopper: false, storedPayments: payments })
      return { order, pricedCart, email: sold.email ?? null, payments }
    })

    /**
     * Creates the paid and fulfilled order of goods that have left, once for their reference; a call that differs in
     * anything fails with 409. Order, payments, stock (which may go below zero: `metadata.oversold`) and `also` are one
     * transaction. Hooks after run once at most; hooks before do not. Call it in no transaction. Needs `orders:create`,
     * and `orders:manage` for given prices. 401, 403, 404, 422.
     */
    const createSold = Effect.fn("SoldOrders.createSold")(function*<E = never, R = never>(
      goods: SoldGoods,
      also: (order: Order) => Effect.Effect<unknown, E, R>
    ) {
      const actor = yield* CurrentActor
      yield* requireAnyOf(actor, ["orders:create"])
      const sold = yield* checked(goods)
      const id = orderIdOf(actor.organizationId, sold.reference)
      const before = yield* existing(id, sold)
      if (before !== undefined) return before
      const basket = basketWithout(sold.currency, yield* quotes.linesOf(sold.lineItems), sold.email ?? null)
      const terms = {
        shippingTotal: sold.shippingTotal ?? 0,
        ...(sold.channel === undefined ? {} : { channel: sold.channel })
      }
      const [decide, taxed] = [() => Effect.succeed(terms), alreadyTaxedBy(adapters, sold.tenders)]
      const made = yield* newOrder(id, sold, yield* pricing.price(basket, sold, null, decide, taxed))
      const finish = Effect.gen(function*() {
        const moved = yield* Effect.provideContext(fulfil(id), services)
        const order = moved.at(-1) ?? made.order
        yield* Effect.provideService(also(order), CurrentActor, actor)
        return { order, moved }
      })
      const steps = { takeGoods: Effect.provideContext(takeGoods(made.order, made.pricedCart, sold), services), finish }
      const written = yield* Effect.updateService(repo.create(made, sold, steps), CurrentActor, withoutRecord)
      if (written === undefined) {
        const first = yield* existing(id, sold)
        return first ?? (yield* Effect.die(new Error(`The hold of order ${id} has no order.`)))
      }
      yield* hooks.after("orders.afterCreate", written.order)
      for (const [index, order] of written.moved.entries()) {
        const change = { orderId: id, fromStatus: path[index] ?? "pending", newStatus: order.status, reason: "sold" }
        yield* hooks.after("orders.afterStatusChange", order, change)
      }
      return written.order
    })

    return { createSold }
  })
}) {
  static readonly layer = Layer.effect(SoldOrders, SoldOrders.make)
}
