import { Context, DateTime, Effect, Layer } from "effect"
import { v5 } from "uuid"
import { type Actor, CurrentActor, requireAnyOf } from "../../domain/access/Actor.ts"
import { CheckoutPricing } from "../../domain/checkout/CheckoutPricing.ts"
import { pendingOrder, type PricedCart } from "../../domain/checkout/PricedCart.ts"
import { basketWithout, Quotes } from "../../domain/checkout/Quotes.ts"
import type { PaidTender, SoldGoods } from "../../domain/checkout/SoldGoods.ts"
import { SoldOrderRepo } from "../../domain/checkout/SoldOrderRepo.ts"
import { conflict, invalid } from "../../domain/errors/ErrorKinds.ts"
import { isDigital } from "../../domain/fulfillment/Fulfillment.ts"
import { Hooks } from "../../domain/hooks/Hooks.ts"
import { OrderId } from "../../domain/ids/Id.ts"
import { Inventory } from "../../domain/inventory/Inventory.ts"
import type { PostingReference } from "../../domain/inventory/StockPosting.ts"
import type { Order } from "../../domain/orders/Order.ts"
import { OrderNumbers } from "../../domain/orders/OrderNumbers.ts"
import { OrderRepo } from "../../domain/orders/OrderRepo.ts"
import { OrderStatusRepo } from "../../domain/orders/OrderStatusRepo.ts"
import type { OrderPayment } from "../../domain/orders/Tender.ts"
import { PaymentAdapters } from "../../domain/payments/PaymentAdapter.ts"

class NotPaid extends invalid("NotPaid", "tenders", (total: number) => `must come to the order's total of ${total}`) {}
class UnknownMethod extends invalid(
  "UnknownMethod",
  (index: number, _: string) => `tenders.${index}.method`,
  (_: number, method: string) => `"${method}" is no payment method of this deployment`
) {}
class ReferenceUsed extends conflict(
  "ReferenceUsed",
  ({ id, type }: PostingReference) => `The ${type} ${id} has an order with other goods or payments.`
) {}

/** Ids of orders by the documents that sold their goods. */
const orderIdOf = (organizationId: string, { id, type }: PostingReference): OrderId =>
  OrderId.make(v5(JSON.stringify([organizationId, type, id]), v5.URL))

const withoutRecord = ({ executionId: _, ...actor }: Actor): Actor => actor

const totalOf = (tenders: ReadonlyArray<PaidTender>) => tenders.reduce((sum, { amount }) => sum + amount, 0)

/** Units by entity and variant: equal lines of a sale are one line of its order. */
const unitsOf = (
  lines: ReadonlyArray<
    { readonly entityId: string; readonly variantId?: string | null | undefined; readonly quantity: number }
  >
) => {
  const units = new Map<string, number>()
  for (const { entityId, quantity, variantId } of lines) {
    const sellable = variantId ?? entityId
    units.set(sellable, (units.get(sellable) ?? 0) + quantity)
  }
  return Array.from(units, (one) => one.join("/")).toSorted().join()
}

const paidBy = (tenders: ReadonlyArray<Pick<PaidTender, "amount" | "method">>) =>
  tenders.map(({ amount, method }) => `${method}/${amount}`).join()

const path = ["pending", "confirmed", "processing", "fulfilled"] as const

/** The payments of an order; 422 for a method that no provider takes. */
const paymentsOf = (adapters: PaymentAdapters["Service"], tenders: ReadonlyArray<PaidTender>) =>
  Effect.forEach(tenders, ({ amount, label, method, reference }, position) => {
    const adapter = adapters.byProvider(method)
    return adapter === undefined ? Effect.fail(new UnknownMethod(position, method)) : Effect.succeed<OrderPayment>({
      position,
      provider: method,
      label: label ?? method,
      intentId: reference ?? "",
      isStoredValue: adapter.isStoredValue ?? false,
      amount,
      captured: null,
      refunded: 0,
      needsShopper: false
    })
  })

/** Confirms and fulfils the order, and takes its goods out of the warehouse, in the caller's transaction. */
const handOver = Effect.fnUntraced(function*(order: Order, { warehouseId }: SoldGoods) {
  const [repo, statuses, inventory] = yield* Effect.all([SoldOrderRepo, OrderStatusRepo, Inventory])
  const moved: Array<Order> = []
  for (const [index, to] of path.slice(1).entries()) {
    const from = path[index] ?? "pending"
    moved.push((yield* statuses.transition({ orderId: order.id, from, to, reason: "sold" })).order)
  }
  // Last, because it locks the stock: other writers lock it after orders and promotions too.
  const lines = order.lineItems.filter(({ entityType }) => !isDigital(entityType)).map((line) => ({
    entityId: line.entityId,
    variantId: line.variantId,
    warehouseId,
    delta: -line.quantity,
    type: "sale" as const,
    allowNegative: true
  }))
  const posted = lines.length === 0 ? [] : yield* inventory.post({ type: "order", id: order.id }, lines)
  if (posted.some(({ quantityOnHand }) => quantityOnHand < 0)) yield* repo.markOversold(order.id)
  return moved
})

/** Orders of goods that have left already (contract, plugins §17.10-11). */
export class SoldOrders extends Context.Service<SoldOrders>()("stoa/workflows/orders/SoldOrders", {
  make: Effect.gen(function*() {
    const [quotes, pricing, numbers, repo] = yield* Effect.all([Quotes, CheckoutPricing, OrderNumbers, SoldOrderRepo])
    const orders = yield* OrderRepo
    const services = yield* Effect.context<SoldOrderRepo | OrderStatusRepo | Inventory>()
    const [adapters, hooks] = yield* Effect.all([PaymentAdapters, Hooks])

    const existing = Effect.fnUntraced(function*(id: OrderId, sold: SoldGoods) {
      const found = (yield* orders.find(id))?.order
      if (found === undefined) return undefined
      const isSame = unitsOf(found.lineItems) === unitsOf(sold.lineItems) &&
        paidBy(found.tenders) === paidBy(sold.tenders.filter(({ amount }) => amount > 0))
      return isSame ? found : yield* new ReferenceUsed(sold.reference)
    })

    const newOrder = Effect.fnUntraced(function*(id: OrderId, sold: SoldGoods, pricedCart: PricedCart) {
      const { organizationId } = yield* CurrentActor
      const payments = yield* paymentsOf(adapters, sold.tenders)
      if (totalOf(sold.tenders) !== pricedCart.grandTotal) return yield* new NotPaid(pricedCart.grandTotal)
      const { method = null, reference = null } = sold.tenders.at(-1) ?? {}
      const order = pendingOrder(pricedCart, sold, {
        id,
        organizationId,
        orderNumber: yield* numbers.next,
        paymentIntentId: reference,
        paymentMethodId: method,
        idempotencyKey: null,
        placedAt: sold.soldAt ?? DateTime.toDateUtc(yield* DateTime.now),
        metadata: { reference: sold.reference }
      }, { paymentProvider: method, awaitsShopper: false, storedPayments: payments })
      return { order, pricedCart, email: sold.email ?? null, payments }
    })

    /**
     * Creates the paid and fulfilled order of goods that have left, once for their reference: the same call again gives the
     * same order, with other goods or payments 409. Order, payments, status, stock (which may go below zero:
     * `metadata.oversold`) and `also` are one transaction; hooks after run when it has committed, hooks before do not, because
     * the goods have left. Prices may be asked outside, so call it in no transaction and write beside it in `also`.
     * Needs `orders:create`, and `orders:manage` for given prices. 401, 403, 404, 422.
     */
    const createSold = Effect.fn("SoldOrders.createSold")(function*<E = never, R = never>(
      sold: SoldGoods,
      also: (order: Order) => Effect.Effect<unknown, E, R>
    ) {
      const actor = yield* CurrentActor
      yield* requireAnyOf(actor, ["orders:create"])
      const id = orderIdOf(actor.organizationId, sold.reference)
      const before = yield* existing(id, sold)
      if (before !== undefined) return before
      const basket = basketWithout(sold.currency, yield* quotes.linesOf(sold.lineItems), sold.email ?? null)
      const terms = {
        shippingTotal: sold.shippingTotal ?? 0,
        ...(sold.channel === undefined ? {} : { channel: sold.channel })
      }
      const made = yield* newOrder(id, sold, yield* pricing.price(basket, sold, null, () => Effect.succeed(terms)))
      const writing = Effect.gen(function*() {
        const moved = yield* Effect.provideContext(handOver(made.order, sold), services)
        const after = (yield* orders.find(id))?.order ?? made.order
        yield* Effect.provideService(also(after), CurrentActor, actor)
        return { after, moved }
      })
      const written = yield* Effect.updateService(repo.create(made, writing), CurrentActor, withoutRecord)
      if (written === undefined) return (yield* existing(id, sold)) ?? made.order
      yield* hooks.after("orders.afterCreate", written.after)
      for (const [index, order] of written.moved.entries()) {
        const change = { orderId: id, fromStatus: path[index] ?? "pending", newStatus: order.status, reason: "sold" }
        yield* hooks.after("orders.afterStatusChange", order, change)
      }
      return written.after
    })

    return { createSold }
  })
}) {
  static readonly layer = Layer.effect(SoldOrders, SoldOrders.make)
}
