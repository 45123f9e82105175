import { Context, Effect, Layer } from "effect"
import { CurrentActor, isSignedIn } from "../access/Actor.ts"
import { Customers } from "../customers/Customers.ts"
import { Forbidden, NotFound, Unauthorized } from "../errors/ApiErrors.ts"
import { Hooks } from "../hooks/Hooks.ts"
import type { PageOf, PageRequest } from "../paging/Paging.ts"
import type { Order } from "./Order.ts"
import { OrderRepo } from "./OrderRepo.ts"

/** The signed-in user's orders, independent of other permissions (spec §4 `/me/orders`, contract, platform §7). */
export class OwnOrders extends Context.Service<OwnOrders, {
  /** A page of the user's orders with their lines, newest first, optionally of one status. */
  readonly list: (
    status: string | undefined,
    page: PageRequest
  ) => Effect.Effect<PageOf<Order>, Unauthorized, CurrentActor>
  /** An order of the user by id or number, in one statement: 404 for none, 403 for another customer's order. */
  readonly find: (idOrNumber: string) => Effect.Effect<Order, NotFound | Forbidden, CurrentActor>
  /** One of the user's orders; runs `orders.afterGet`. */
  readonly get: (idOrNumber: string) => Effect.Effect<Order, NotFound | Forbidden, CurrentActor>
}>()("stoa/domain/orders/OwnOrders") {
  static readonly layer = Layer.effect(
    OwnOrders,
    Effect.gen(function*() {
      const orders = yield* OrderRepo
      const customers = yield* Customers
      const hooks = yield* Hooks

      const list = Effect.fn("OwnOrders.list")(function*(status: string | undefined, page: PageRequest) {
        const actor = yield* CurrentActor
        if (!isSignedIn(actor)) return yield* Unauthorized.of()
        const found = yield* orders.list({ status, userId: actor.userId }, page)
        // Customers with orders already have a profile; a first request creates one.
        if (found.total === 0) yield* customers.ownProfile
        return found
      })

      const find = Effect.fn("OwnOrders.find")(function*(idOrNumber: string) {
        const { type, userId } = yield* CurrentActor
        const found = yield* orders.find(idOrNumber)
        if (found === undefined) return yield* NotFound.of("Order not found.")
        return type === "user" && userId !== null && found.ownerUserId === userId
          ? found.order
          : yield* Forbidden.of("This order belongs to somebody else.")
      })

      const get = Effect.fn("OwnOrders.get")(function*(idOrNumber: string) {
        const order = yield* find(idOrNumber)
        yield* hooks.after("orders.afterGet", order)
        return order
      })

      return { list, find, get }
    })
  )
}
