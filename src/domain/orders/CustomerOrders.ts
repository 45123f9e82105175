import { Context, Effect, Layer } from "effect"
import { Customers } from "../customers/Customers.ts"
import { CurrentActor, isSignedIn } from "../platform/access/Actor.ts"
import { Unauthorized } from "../platform/errors/ApiErrors.ts"
import { Hooks } from "../platform/hooks/Hooks.ts"
import type { CustomerId } from "../platform/ids/Id.ts"
import type { PageRequest } from "../platform/paging/Paging.ts"
import { customerTotals, foreignOrder, OrderNotFound } from "./Order.ts"
import { OrderRepo } from "./OrderRepo.ts"

/** Orders by their owner (spec §4 `/me/orders`, contract, platform §7, §8). */
export class CustomerOrders extends Context.Service<CustomerOrders>()("stoa/domain/orders/CustomerOrders", {
  make: Effect.gen(function*() {
    const [orders, customers, hooks] = yield* Effect.all([OrderRepo, Customers, Hooks])

    const of = Effect.fn("CustomerOrders.of")(
      function*(customerId: CustomerId, status: string | undefined, page: PageRequest) {
        yield* customers.mustExist(customerId)
        return yield* orders.list({ customerId, status }, page)
      }
    )

    const listOwn = Effect.fn("CustomerOrders.listOwn")(function*(status: string | undefined, page: PageRequest) {
      const actor = yield* CurrentActor
      if (!isSignedIn(actor)) return yield* Unauthorized.of()
      const found = yield* orders.list({ status, userId: actor.userId }, page)
      if (found.total === 0) yield* customers.ownProfile
      return found
    })

    /** By id or number: 404 for none and for another customer's order; staff get 403. */
    const findOwn = Effect.fn("CustomerOrders.findOwn")(function*(idOrNumber: string) {
      const actor = yield* CurrentActor
      const { type, userId } = actor
      const found = yield* orders.find(idOrNumber)
      if (found === undefined) return yield* new OrderNotFound()
      return type === "user" && userId !== null && found.ownerUserId === userId
        ? found.order
        : yield* foreignOrder(actor)
    })

    /** The same, and runs `orders.afterGet`. */
    const getOwn = Effect.fn("CustomerOrders.getOwn")(
      (idOrNumber: string) => Effect.tap(findOwn(idOrNumber), (order) => hooks.after("orders.afterGet", order))
    )

    /**
     * Assigns guest orders under the actor's e-mail address to the actor. Call it only after the address is verified;
     * repeating it changes nothing.
     */
    const claimGuestOrders = Effect.gen(function*() {
      const actor = yield* CurrentActor
      const email = actor.email?.trim() ?? ""
      if (!isSignedIn(actor) || email === "" || !(yield* orders.hasGuestOrders(email))) return 0
      const customerId = yield* customers.ownProfileId
      return customerId === null ? 0 : yield* orders.claim(customerId, email)
    }).pipe(Effect.withSpan("CustomerOrders.claimGuestOrders"))

    return {
      of,
      /** Orders that were not cancelled; 0 for a guest. For promotions of the first order. */
      countOf: (customerId: CustomerId | null) => customerId === null ? Effect.succeed(0) : orders.countOf(customerId),
      totalsOf: (customerId: CustomerId) => Effect.map(orders.spent(customerId), customerTotals),
      listOwn,
      findOwn,
      getOwn,
      claimGuestOrders
    }
  })
}) {
  static readonly layer = Layer.effect(CustomerOrders, CustomerOrders.make)
}
