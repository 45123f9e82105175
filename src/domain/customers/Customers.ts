import { Context, Effect, Layer } from "effect"
import { CurrentActor } from "../access/Actor.ts"
import { NotFound } from "../errors/ApiErrors.ts"
import { Hooks } from "../hooks/Hooks.ts"
import { isUuid } from "../ids/Id.ts"
import type { Customer } from "./Customer.ts"
import { CustomerRepo } from "./CustomerRepo.ts"

/** What other modules need to know of customers: whose profile a request acts for (contract §2, §3.1). */
export class Customers extends Context.Service<Customers, {
  /**
   * Profile of the signed-in user of the request, made on first use, when `customers.afterCreate` runs; null for anonymous
   * visitors and API keys.
   */
  readonly ownProfileId: Effect.Effect<string | null, never, CurrentActor>
  /** The profile that the signed-in user of the request has already, for whoever only asks; none is made. */
  readonly existingProfile: Effect.Effect<Customer | null, never, CurrentActor>
  /** 404 unless the organization has this customer. */
  readonly mustExist: (customerId: string) => Effect.Effect<void, NotFound, CurrentActor>
  /** Groups stored for a profile; empty for an unknown one. What a client claims to be in never counts here. */
  readonly groupsOf: (customerId: string) => Effect.Effect<ReadonlyArray<string>, never, CurrentActor>
}>()("stoa/domain/customers/Customers") {
  static readonly layer = Layer.effect(
    Customers,
    Effect.gen(function*() {
      const repo = yield* CustomerRepo
      const hooks = yield* Hooks
      return {
        ownProfileId: Effect.gen(function*() {
          const profile = yield* repo.openProfile(yield* CurrentActor)
          if (profile === null) return null
          if (profile.made) yield* hooks.after("customers.afterCreate", profile.customer)
          return profile.customer.id
        }),
        existingProfile: Effect.flatMap(CurrentActor, repo.existingProfileOf),
        mustExist: Effect.fn("Customers.mustExist")(function*(customerId: string) {
          const found = isUuid(customerId) ? yield* repo.find(customerId) : undefined
          if (found === undefined) return yield* NotFound.of("Customer not found.")
        }),
        groupsOf: repo.groupsOf
      }
    })
  )
}
