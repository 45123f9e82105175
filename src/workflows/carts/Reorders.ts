import { Context, Effect, Layer, Struct } from "effect"
import { Carts } from "../../domain/carts/Carts.ts"
import { ChosenLine, chosenMetadata, itemLabel } from "../../domain/carts/Line.ts"
import { Customers } from "../../domain/customers/Customers.ts"
import { CustomerOrders } from "../../domain/orders/CustomerOrders.ts"
import type { OrderLine } from "../../domain/orders/Order.ts"
import type { CartId, OrderId } from "../../domain/platform/ids/Id.ts"
import { isCurrencyCode } from "../../domain/platform/money/Money.ts"

/** Adds the items of an earlier order to a new cart (spec §4 `/me/orders/:orderId/reorder`, contract, platform §7). */
export class Reorders extends Context.Service<Reorders>()("stoa/workflows/carts/Reorders", {
  make: Effect.gen(function*() {
    const orders = yield* CustomerOrders
    const customers = yield* Customers
    const carts = yield* Carts

    const add = (cartId: CartId, line: OrderLine) =>
      carts.addItem(cartId, {
        ...Struct.pick(line, Struct.keys(ChosenLine.fields)),
        metadata: chosenMetadata(line)
      }).pipe(
        Effect.as(null),
        Effect.catch((refusal) => Effect.succeed(refusal.error.message))
      )

    return {
      /**
       * Creates a cart in the order's currency, at current prices. Items that are no longer sold are in `itemsFailed`.
       * 404 without an order, 403 for another customer's order.
       */
      reorder: Effect.fn("Reorders.reorder")(function*(orderId: OrderId) {
        const order = yield* orders.findOwn(orderId)
        const { currency } = order
        if (!isCurrencyCode(currency)) return yield* Effect.die(new Error(`An order in ${currency}.`))
        const cart = yield* carts.create({ currency, customerId: (yield* customers.ownProfile).id })
        // One after the other, to keep the order of the lines.
        const reasons = yield* Effect.forEach(order.lineItems, (line) => add(cart.id, line))
        const itemsFailed = order.lineItems.flatMap((line, index) => {
          const reason = reasons[index] ?? null
          return reason === null ? [] : [{ item: itemLabel(line), reason }]
        })
        return { cartId: cart.id, itemsAdded: reasons.length - itemsFailed.length, itemsFailed }
      })
    }
  })
}) {
  static readonly layer = Layer.effect(Reorders, Reorders.make)
}
