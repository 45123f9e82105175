import { Context, DateTime, Effect, Layer } from "effect"
import type { CurrentActor } from "../../domain/access/Actor.ts"
import { CartRepo } from "../../domain/carts/CartRepo.ts"
import { Addresses } from "../../domain/customers/Addresses.ts"
import { Customers } from "../../domain/customers/Customers.ts"
import { Interactions } from "../../domain/customers/Interactions.ts"
import { OrderRecordRepo } from "../../domain/customers/OrderRecordRepo.ts"
import type { PersonalData } from "../../domain/customers/PersonalData.ts"
import type { NotFound, Unauthorized } from "../../domain/errors/ApiErrors.ts"
import { CustomerOrders } from "../../domain/orders/CustomerOrders.ts"

/** The newest of each kind: a response has to fit into memory. */
const newest = { page: 1, limit: 10_000 }

/** The right of access to personal data (docs/customers.md). */
export class PersonalExport extends Context.Service<PersonalExport, {
  /** All data of the signed-in person in their organization, in a fixed number of statements. */
  readonly all: Effect.Effect<PersonalData, Unauthorized | NotFound, CurrentActor>
}>()("stoa/workflows/customers/PersonalExport") {
  static readonly layer = Layer.effect(
    PersonalExport,
    Effect.gen(function*() {
      const customers = yield* Customers
      const addresses = yield* Addresses
      const interactions = yield* Interactions
      const orders = yield* CustomerOrders
      const carts = yield* CartRepo
      const records = yield* OrderRecordRepo
      return {
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
  )
}
