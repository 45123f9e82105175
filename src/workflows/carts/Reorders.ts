import { Context, Effect, Layer } from "effect"
import type { CurrentActor } from "../../domain/access/Actor.ts"
import { Carts } from "../../domain/carts/Carts.ts"
import type { Reorder } from "../../domain/carts/Reorder.ts"
import { Customers } from "../../domain/customers/Customers.ts"
import type { Forbidden, NotFound, Unauthorized } from "../../domain/errors/ApiErrors.ts"
import { isCurrencyCode } from "../../domain/money/Currency.ts"
import type { OrderLine } from "../../domain/orders/Order.ts"
import { OwnOrders } from "../../domain/orders/OwnOrders.ts"
import { CartClient } from "../../entities/CartClient.ts"

/** Buying again what an order held (spec §4 `/me/orders/:orderId/reorder`, contract, platform §7). */
export class Reorders extends Context.Service<Reorders, {
  /**
   * A new cart of the person's own in the order's currency with the same things in the same quantities, at the prices of
   * today. What is not sold any more stays out and is named. 404 without such an order, 403 for somebody else's.
   */
  readonly reorder: (
    orderId: string
  ) => Effect.Effect<Reorder, Unauthorized | NotFound | Forbidden, CurrentActor>
}>()("stoa/workflows/carts/Reorders") {
  static readonly layer = Layer.effect(
    Reorders,
    Effect.gen(function*() {
      const orders = yield* OwnOrders
      const customers = yield* Customers
      const carts = yield* Carts
      const client = yield* CartClient

      /** The reason why a line stays out; null when it is in the cart. */
      const add = (cartId: string, { entityId, quantity, variantId }: OrderLine) =>
        client.addItem(cartId, { entityId, variantId, quantity }).pipe(
          Effect.as(null),
          Effect.catch((refusal) => Effect.succeed(refusal.error.message))
        )

      return {
        reorder: Effect.fn("Reorders.reorder")(function*(orderId: string) {
          const order = yield* orders.find(orderId)
          const { currency } = order
          if (!isCurrencyCode(currency)) return yield* Effect.die(new Error(`An order in ${currency}.`))
          const cart = yield* carts.create({ currency, customerId: (yield* customers.ownProfile).id })
          // One after the other: the cart has its lines in the order of the old ones.
          const reasons = yield* Effect.forEach(order.lineItems, (line) => add(cart.id, line))
          const itemsFailed = order.lineItems.flatMap(({ title }, index) => {
            const reason = reasons[index] ?? null
            return reason === null ? [] : [{ item: title, reason }]
          })
          return { cartId: cart.id, itemsAdded: reasons.length - itemsFailed.length, itemsFailed }
        })
      }
    })
  )
}
