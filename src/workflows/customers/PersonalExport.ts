import { Context, DateTime, Effect, Layer } from "effect"
import { CartRepo } from "../../domain/carts/CartRepo.ts"
import { Addresses } from "../../domain/customers/Addresses.ts"
import { Customers } from "../../domain/customers/Customers.ts"
import { Interactions } from "../../domain/customers/Interactions.ts"
import { OrderRecordRepo } from "../../domain/customers/OrderRecordRepo.ts"
import { CustomerOrders } from "../../domain/orders/CustomerOrders.ts"

/** The newest of each kind: a response has to fit into memory. */
const newest = { page: 1, limit: 10_000 }

/** The right of access to personal data (docs/customers.md). */
export class PersonalExport extends Context.Service<PersonalExport>()("stoa/workflows/customers/PersonalExport", {
  make: Effect.gen(function*() {
    const customers = yield* Customers
    const addresses = yield* Addresses
    const interactions = yield* Interactions
    const orders = yield* CustomerOrders
    const carts = yield* CartRepo
    const records = yield* OrderRecordRepo
    return {
      /** All data of the signed-in person in their organization, in a fixed number of statements. */
      all: Effect.gen(function*() {
        const profile = yield* customers.ownProfile
        return {
          exportedAt: DateTime.toDateUtc(yield* DateTime.now),
          profile,
          addresses: (yield* addresses.own(newest)).items,
          orders: (yield* orders.listOwn(undefined, newest)).items,
          carts: yield* carts.ofCustomer(profile.id, newest.limit),
          interactions: (yield* interactions.list(profile.id, newest)).items,
          ...yield* records.of(profile.id, newest.limit)
        }
      }).pipe(Effect.withSpan("PersonalExport.all"))
    }
  })
}) {
  static readonly layer = Layer.effect(PersonalExport, PersonalExport.make)
}
