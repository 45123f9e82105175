import { Context, DateTime, Effect, Layer } from "effect"
import type { ManualOrderRequest } from "../../domain/checkout/Checkout.ts"
import { CheckoutPricing } from "../../domain/checkout/CheckoutPricing.ts"
import { CreateOrderRepo } from "../../domain/checkout/CreateOrderRepo.ts"
import { pendingOrder } from "../../domain/checkout/PendingOrder.ts"
import { mayWait, type PricedCart, type PricingRequest } from "../../domain/checkout/PricedCart.ts"
import { basketWithout, Quotes } from "../../domain/checkout/Quotes.ts"
import { Customers } from "../../domain/customers/Customers.ts"
import { HoldRepo } from "../../domain/inventory/HoldRepo.ts"
import type { OrderStock } from "../../domain/inventory/Inventory.ts"
import type { Order } from "../../domain/orders/Order.ts"
import { OrderNumbers } from "../../domain/orders/OrderNumbers.ts"
import { OrderRecords } from "../../domain/orders/OrderRecords.ts"
import { OrderRepo } from "../../domain/orders/OrderRepo.ts"
import { UnpaidOrderRepo } from "../../domain/orders/UnpaidOrderRepo.ts"
import { actsForShop, CurrentActor, isAnonymous } from "../../domain/platform/access/Actor.ts"
import { CheckoutFailed, Unauthorized, Unavailable } from "../../domain/platform/errors/ApiErrors.ts"
import type { Hooks } from "../../domain/platform/hooks/Hooks.ts"
import { type CustomerId, newId, type OrderId } from "../../domain/platform/ids/Id.ts"
import { StoreSettings } from "../../domain/platform/settings/StoreSettings.ts"
import type { StockClient } from "../../entities/StockEntity.ts"
import { reservationExpired, reserveFor } from "../checkout/CheckoutCart.ts"
import { afterOrder, beforeManualOrder } from "../checkout/CheckoutHooks.ts"
import { withBackorders } from "../checkout/CheckoutOrder.ts"

export type PlacedRequest = PricingRequest & Pick<ManualOrderRequest, "lineItems"> & {
  readonly currency: string
  readonly email: string | null
}

/** Orders that staff or a shopper creates without a checkout (contract §4.4). */
export class ManualOrders extends Context.Service<ManualOrders>()("stoa/workflows/orders/ManualOrders", {
  make: Effect.gen(function*() {
    const services = yield* Effect.context<
      | HoldRepo
      | Hooks
      | OrderRecords
      | OrderNumbers
      | OrderRepo
      | OrderStock
      | CreateOrderRepo
      | StockClient
      | StoreSettings
      | UnpaidOrderRepo
    >()
    const [quotes, customers, pricing] = yield* Effect.all([Quotes, Customers, CheckoutPricing])

    /**
     * Prices an order as in checkout, holds its stock, lets `write` create it with the number, and runs the hooks. A
     * failure leaves nothing behind.
     */
    const place = Effect.fn("ManualOrders.place")(
      function*<A extends { readonly order: Order }, E, R>(
        request: PlacedRequest,
        own: CustomerId | null,
        write: (id: OrderId, pricedCart: PricedCart, orderNumber: string) => Effect.Effect<A, E, R>
      ) {
        const basket = basketWithout(request.currency, yield* quotes.linesOf(request.lineItems), request.email)
        const priced = yield* pricing.price(basket, request, own)
        const orderId = newId<OrderId>()
        const pricedCart = yield* beforeManualOrder(orderId, request, priced)
        const creating = Effect.gen(function*() {
          yield* Effect.catchTag(
            reserveFor(orderId, pricedCart),
            "ProcessStopping",
            () => Effect.fail(Unavailable.of())
          )
          return yield* write(orderId, pricedCart, yield* (yield* OrderNumbers).next)
        })
        const placed = yield* Effect.tapError(
          creating,
          () => Effect.flatMap(HoldRepo, (holds) => holds.release(orderId))
        )
        yield* afterOrder(placed.order)
        return placed
      },
      Effect.provideContext(services)
    )

    /**
     * Creates an unpaid order, priced as in checkout, and holds its stock. Setting prices and discounts needs
     * `orders:manage` (contract §12.3). A shopper's orders have a deadline and a limit: 422 beyond that. A failure
     * (401, 403, 404, 422) leaves nothing behind.
     */
    const create = Effect.fn("ManualOrders.create")(
      function*(request: ManualOrderRequest) {
        const actor = yield* CurrentActor
        // An order of an anonymous visitor would hold stock, but the visitor could neither read nor pay it.
        if (isAnonymous(actor)) return yield* Unauthorized.of()
        const forShop = actsForShop(actor)
        const own = forShop ? null : yield* customers.ownProfileId
        const wanted = { ...request, email: (forShop && request.email) || null }
        const { order } = yield* place(
          wanted,
          own,
          (id, pricedCart, orderNumber) => createOrder(id, orderNumber, request, pricedCart, forShop)
        )
        // A shopper's order has a deadline, which the database sets.
        return forShop ? order : (yield* (yield* OrderRepo).find(order.id))?.order ?? order
      },
      Effect.provideContext(services)
    )

    return { create, place }
  })
}) {
  static readonly layer = Layer.effect(ManualOrders, ManualOrders.make)
}

const createOrder = Effect.fnUntraced(
  function*(
    id: OrderId,
    orderNumber: string,
    request: ManualOrderRequest,
    pricedCart: PricedCart,
    forShop: boolean
  ) {
    const { organizationId } = yield* CurrentActor
    const pending = pendingOrder(pricedCart, request, {
      id,
      organizationId,
      orderNumber,
      paymentIntentId: null,
      paymentMethodId: null,
      idempotencyKey: null,
      isDraft: forShop && request.draft === true,
      placedAt: DateTime.toDateUtc(yield* DateTime.now),
      metadata: request.customerGroupIds === undefined ? {} : { customerGroupIds: pricedCart.customerGroupIds ?? [] }
    })
    const order = mayWait(pricedCart) ? yield* withBackorders(pending) : pending
    const note = typeof request.note === "string" ? request.note : undefined
    const noted = note === undefined ? Effect.void : (yield* OrderRecords).noteNewOrder(id, note)
    const created = yield* (yield* CreateOrderRepo).createManual(
      { order, pricedCart, email: forShop ? request.email ?? null : null },
      // In the order's transaction: a process that dies afterwards must not leave stock with a shopper forever.
      forShop ? noted : yield* awaitingPayment(id, pricedCart.customerId)
    )
    return created === "created"
      ? { order }
      : yield* reservationExpired
  }
)

/** Anyone can sign up: a deadline and a limit leave the stock to paying shoppers. */
const awaitingPayment = (orderId: OrderId, customerId: CustomerId | null) =>
  Effect.map(
    Effect.all([UnpaidOrderRepo, StoreSettings]),
    ([orders, { holdSeconds, maxUnpaidOrders }]) =>
      Effect.gen(function*() {
        yield* orders.awaitPayment(orderId, holdSeconds)
        const waiting = customerId === null ? 1 : yield* orders.countWaiting(customerId)
        if (waiting > maxUnpaidOrders) {
          return yield* CheckoutFailed.of(
            `At most ${maxUnpaidOrders} orders may wait for their payment. Pay or cancel one.`,
            { reason: "too_many_unpaid" }
          )
        }
      })
  )
