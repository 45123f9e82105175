import { Context, DateTime, Effect, Layer } from "effect"
import type { CurrentActor } from "../access/Actor.ts"
import { NotFound, type Unauthorized } from "../errors/ApiErrors.ts"
import { Hooks } from "../hooks/Hooks.ts"
import { Customers } from "./Customers.ts"
import { ErasureRepo } from "./ErasureRepo.ts"

/** The right to be forgotten (docs/customers.md). */
export class Erasure extends Context.Service<Erasure, {
  /**
   * Erases the signed-in person from the organization: nothing is left that says who he was. Runs `customers.afterUpdate`
   * with what is left of the profile. His login is not touched; if it comes again it gets a new profile.
   */
  readonly eraseOwn: Effect.Effect<void, Unauthorized | NotFound, CurrentActor>
}>()("stoa/domain/customers/Erasure") {
  static readonly layer = Layer.effect(
    Erasure,
    Effect.gen(function*() {
      const repo = yield* ErasureRepo
      const customers = yield* Customers
      const hooks = yield* Hooks
      return {
        eraseOwn: Effect.gen(function*() {
          const { id } = yield* customers.ownProfile
          const left = yield* repo.erase(id, DateTime.toDateUtc(yield* DateTime.now))
          if (left === undefined) return yield* NotFound.of("Customer not found.")
          yield* hooks.after("customers.afterUpdate", left)
        }).pipe(Effect.withSpan("Erasure.eraseOwn"))
      }
    })
  )
}
