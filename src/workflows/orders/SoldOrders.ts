import { Context, DateTime, Effect, Layer, Schema } from "effect"
import { v5 } from "uuid"
import { itemLabel } from "../../domain/carts/Line.ts"
import { pendingOrder } from "../../domain/checkout/PendingOrder.ts"
import {
  isCounted,
  payableByStoredValue,
  type PricedCart,
  type PricedCartLine,
  unpayableByStoredValue
} from "../../domain/checkout/PricedCart.ts"
import { quoteOf } from "../../domain/checkout/Quotes.ts"
import { SoldGoods } from "../../domain/checkout/SoldGoods.ts"
import { SoldOrderRepo } from "../../domain/checkout/SoldOrderRepo.ts"
import { Inventory } from "../../domain/inventory/Inventory.ts"
import type { PostingReference, StockPostingLine } from "../../domain/inventory/StockPosting.ts"
import { type Order, orderTaxes } from "../../domain/orders/Order.ts"
import { OrderNumbers } from "../../domain/orders/OrderNumbers.ts"
import { OrderRepo } from "../../domain/orders/OrderRepo.ts"
import { OrderStatusRepo } from "../../domain/orders/OrderStatusRepo.ts"
import type { OrderPayment } from "../../domain/orders/Tender.ts"
import { CollectedPaymentRepo } from "../../domain/payments/CollectedPaymentRepo.ts"
import { type Actor, CurrentActor, requireAnyOf } from "../../domain/platform/access/Actor.ts"
import { ValidationFailed } from "../../domain/platform/errors/ApiErrors.ts"
import { conflict, invalid } from "../../domain/platform/errors/ErrorKinds.ts"
import { Hooks } from "../../domain/platform/hooks/Hooks.ts"
import { OrderId } from "../../domain/platform/ids/Id.ts"
import { everyIssue, issuesOf } from "../../domain/platform/text/Issues.ts"
import { type PriceListRequest, soldPricing, type SoldTerms, totalOf } from "./SoldPrices.ts"

class NotPaid extends invalid("NotPaid", "tenders", (total: number) => `must come to the order's total of ${total}.`) {}
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

const decode = Schema.decodeUnknownEffect(Schema.toType(SoldGoods), everyIssue)

const checked = (sold: SoldGoods) => Effect.mapError(decode(sold), (error) => ValidationFailed.issues(issuesOf(error)))

const isRefused = Schema.is(ValidationFailed)

const path = ["pending", "confirmed", "processing", "fulfilled"] as const

/** Names lines of the order in place of those of the posting. */
const missing = (lines: ReadonlyArray<PricedCartLine & { readonly at: number }>, { error }: ValidationFailed) =>
  ValidationFailed.issues(error.details.issues.map((issue) => {
    const line = lines[Number(issue.path.split(".")[1])]
    if (line === undefined || issue.code !== "insufficient_stock") return issue
    const path = `lineItems.${line.at}.quantity`
    const message = `${path} is more than the warehouse has of ${itemLabel(line)} for new orders.`
    return { ...issue, path, message }
  }))

/**
 * Takes the goods of an order, and what it consumes, out of stock. Returns whether units are gone that were not there,
 * or that other orders were promised.
 */
const takeGoods = Effect.fnUntraced(function*(order: Order, pricedCart: PricedCart, sold: SoldGoods) {
  const { consumes = [], returns = { goods: [] }, stock = "allow", warehouseId } = sold
  const counted = pricedCart.lines.map((line, at) => ({ ...line, at })).filter(isCounted)
  const lines = counted.map(({ entityId, quantity, variantId }): StockPostingLine => ({
    entityId,
    variantId,
    warehouseId,
    delta: -quantity,
    type: "sale",
    allowNegative: stock === "allow"
  }))
  const all = [...lines, ...consumes]
  const inventory = yield* Inventory
  if (returns.goods.length > 0) yield* inventory.lock([...all, ...returns.goods])
  if (all.length === 0) return false
  const posting = inventory.post({ type: "order", id: order.id }, all)
  const posted = yield* Effect.mapError(posting, (error) => isRefused(error) ? missing(counted, error) : error)
  return posted.slice(0, lines.length).some(({ available = 0 }) => available < 0)
})

const fulfil = Effect.fnUntraced(function*(orderId: OrderId) {
  const statuses = yield* OrderStatusRepo
  return yield* Effect.forEach(path.slice(1), (to, index) =>
    Effect.map(
      statuses.transition({ orderId, from: path[index] ?? "pending", to, reason: "sold" }),
      ({ order }) => order
    ))
})

const newOrder = Effect.fnUntraced(function*(
  numbers: OrderNumbers["Service"],
  id: OrderId,
  sold: SoldGoods,
  pricedCart: PricedCart,
  payments: ReadonlyArray<OrderPayment>
) {
  const { organizationId } = yield* CurrentActor
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
    metadata: { reference: sold.reference, ...(sold.mails === true ? {} : { mails: false }) }
  }, { paymentProvider: provider, awaitsShopper: false, storedPayments: payments })
  return { order, pricedCart, email: sold.email ?? null, payments }
})

/** Orders of goods that have left already (contract, plugins §17.10-11). */
export class SoldOrders extends Context.Service<SoldOrders>()("stoa/workflows/orders/SoldOrders", {
  make: Effect.gen(function*() {
    const [{ listOf, pricedOf }, numbers, repo] = [yield* soldPricing, yield* OrderNumbers, yield* SoldOrderRepo]
    const orders = yield* OrderRepo
    const services = yield* Effect.context<OrderStatusRepo | Inventory>()
    const [collected, hooks] = yield* Effect.all([CollectedPaymentRepo, Hooks])

    const existing = Effect.fnUntraced(function*(id: OrderId, sold: SoldGoods) {
      const same = yield* repo.isSame(id, sold)
      if (same === false) return yield* new ReferenceUsed(sold.reference)
      return same === undefined ? undefined : (yield* orders.find(id))?.order
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
      const { claims, payments, priced } = yield* pricedOf(sold)
      const made = yield* newOrder(numbers, id, sold, priced, payments)
      const finish = Effect.gen(function*() {
        yield* collected.claim(id, claims)
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

    return {
      createSold,
      /**
       * The price that `createSold` would charge now; its tenders need not come to it. Stores nothing. With
       * `furtherTaxed`: if stored value that was taxed when it was sold paid so much more.
       */
      quoteSold: Effect.fn("SoldOrders.quoteSold")(function*(sold: SoldTerms, furtherTaxed?: number) {
        yield* requireAnyOf(yield* CurrentActor, ["orders:create"])
        const { priced } = yield* pricedOf(sold, furtherTaxed)
        return { ...quoteOf(priced), taxes: orderTaxes(priced.lines) }
      }),
      /** Prices and taxes of single units where they are handed over; goods that cannot be sold are left out. */
      priceList: Effect.fn("SoldOrders.priceList")(function*(request: PriceListRequest) {
        yield* requireAnyOf(yield* CurrentActor, ["orders:create"])
        return yield* listOf(request)
      }),
      /** The id of the order that `createSold` makes for a reference, for payments that are collected before it. */
      soldId: (reference: PostingReference) =>
        Effect.map(CurrentActor, ({ organizationId }) => orderIdOf(organizationId, reference))
    }
  })
}) {
  static readonly layer = Layer.effect(SoldOrders, SoldOrders.make)
}
