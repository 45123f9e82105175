import { Context, Effect, Layer } from "effect"
import { CurrentActor, isSignedIn } from "../access/Actor.ts"
import { Customers } from "../customers/Customers.ts"
import type { NotFound } from "../errors/ApiErrors.ts"
import type { PageOf, PageRequest } from "../paging/Paging.ts"
import { CustomerOrderRepo } from "./CustomerOrderRepo.ts"
import { type CustomerTotals, customerTotals } from "./CustomerTotals.ts"
import type { Order } from "./Order.ts"
import { OrderRepo } from "./OrderRepo.ts"

/** Orders by their owner (contract, platform §8). */
export class CustomerOrders extends Context.Service<CustomerOrders, {
  /** A page of a customer's orders with their lines, newest first. 404 without such a customer. */
  readonly of: (
    customerId: string,
    status: string | undefined,
    page: PageRequest
  ) => Effect.Effect<PageOf<Order>, NotFound, CurrentActor>
  /** What a customer has bought in all. */
  readonly totalsOf: (customerId: string) => Effect.Effect<CustomerTotals, never, CurrentActor>
  /**
   * Assigns guest orders under the signed-in actor's e-mail address to the actor, ignoring case; returns the count.
   * Call it only after the address is verified. Repeating it changes nothing; visitors, API keys and logins without an
   * address get none. Without orders to claim it costs one look-up and creates no profile.
   */
  readonly claimGuestOrders: Effect.Effect<number, never, CurrentActor>
}>()("stoa/domain/orders/CustomerOrders") {
  static readonly layer = Layer.effect(
    CustomerOrders,
    Effect.gen(function*() {
      const orders = yield* OrderRepo
      const repo = yield* CustomerOrderRepo
      const customers = yield* Customers
      return {
        of: Effect.fn("CustomerOrders.of")(
          function*(customerId: string, status: string | undefined, page: PageRequest) {
            yield* customers.mustExist(customerId)
            return yield* orders.list({ customerId, status }, page)
          }
        ),
        totalsOf: Effect.fn("CustomerOrders.totalsOf")(function*(customerId: string) {
          return customerTotals(yield* repo.spent(customerId))
        }),
        claimGuestOrders: Effect.gen(function*() {
          const actor = yield* CurrentActor
          const email = actor.email?.trim() ?? ""
          if (!isSignedIn(actor) || email === "" || !(yield* repo.hasGuestOrders(email))) return 0
          const customerId = yield* customers.ownProfileId
          return customerId === null ? 0 : yield* repo.claim(customerId, email)
        }).pipe(Effect.withSpan("CustomerOrders.claimGuestOrders"))
      }
    })
  )
}
