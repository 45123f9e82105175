import { Context, DateTime, Effect, Layer } from "effect"
import { CartRepo } from "../../domain/carts/CartRepo.ts"
import { Addresses, Interactions } from "../../domain/customers/CustomerRecords.ts"
import { Customers } from "../../domain/customers/Customers.ts"
import { CustomerOrders } from "../../domain/orders/CustomerOrders.ts"
import { Hooks } from "../../domain/platform/hooks/Hooks.ts"
import { PersonalDataRepo } from "../../domain/privacy/PersonalDataRepo.ts"

/** A response has to fit into memory. */
const newest = { page: 1, limit: 10_000 }

/** Access to personal data and its erasure (docs/customers.md). */
export class PrivacyRequests extends Context.Service<PrivacyRequests>()("stoa/workflows/customers/PrivacyRequests", {
  make: Effect.gen(function*() {
    const customers = yield* Customers
    const addresses = yield* Addresses
    const interactions = yield* Interactions
    const orders = yield* CustomerOrders
    const carts = yield* CartRepo
    const repo = yield* PersonalDataRepo
    const hooks = yield* Hooks
    const clock = Effect.map(DateTime.now, DateTime.toDateUtc)
    return {
      exportOwn: Effect.gen(function*() {
        const profile = yield* customers.ownProfile
        return {
          exportedAt: yield* clock,
          profile,
          addresses: (yield* addresses.own(newest)).items,
          orders: (yield* orders.listOwn(undefined, newest)).items,
          carts: yield* carts.ofCustomer(profile.id, newest.limit),
          interactions: (yield* interactions.list(profile.id, newest)).items,
          ...yield* repo.orderRecords(profile.id, newest.limit),
          plugins: yield* repo.pluginRecords(profile, newest.limit)
        }
      }).pipe(Effect.withSpan("PrivacyRequests.exportOwn")),
      /**
       * Erases personal data and runs `customers.afterUpdate`. The login stays; its next visit creates a new profile.
       * 409 while an order is open, since the shop needs the address to ship it.
       */
      eraseOwn: Effect.gen(function*() {
        const { id } = yield* customers.ownProfile
        const left = yield* repo.erase(id, yield* clock)
        yield* hooks.after("customers.afterUpdate", left)
      }).pipe(Effect.withSpan("PrivacyRequests.eraseOwn"))
    }
  })
}) {
  static readonly layer = Layer.effect(PrivacyRequests, PrivacyRequests.make)
}
