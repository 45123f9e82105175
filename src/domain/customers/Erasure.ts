import { Context, DateTime, Effect, Layer } from "effect"
import type { CurrentActor } from "../access/Actor.ts"
import { Conflict, NotFound, type Unauthorized } from "../errors/ApiErrors.ts"
import { Hooks } from "../hooks/Hooks.ts"
import { Customers } from "./Customers.ts"
import { ErasureRepo } from "./ErasureRepo.ts"

/** How many of the orders a refusal names. */
const named = 5

const stillOpen = (numbers: ReadonlyArray<string>): string =>
  numbers.length === 0
    ? "A checkout is under way. Ask again when it has ended."
    : `Orders are still open: ${numbers.slice(0, named).join(", ")}${numbers.length > named ? " and more" : ""}. ` +
      "They have to be fulfilled or cancelled first."

/** The right to be forgotten (docs/customers.md). */
export class Erasure extends Context.Service<Erasure, {
  /**
   * Erases the signed-in person from the organization: nothing is left that says who he was. Runs `customers.afterUpdate`
   * with what is left of the profile. His login is not touched; if it comes again it gets a new profile. 409 while an order
   * of his is not at its end, since the shop needs to know where to send it.
   */
  readonly eraseOwn: Effect.Effect<void, Unauthorized | NotFound | Conflict, CurrentActor>
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
          const erased = yield* repo.erase(id, DateTime.toDateUtc(yield* DateTime.now))
          if (erased._tag === "Nobody") return yield* NotFound.of("Customer not found.")
          if (erased._tag === "Open") return yield* Conflict.of(stillOpen(erased.orderNumbers))
          yield* hooks.after("customers.afterUpdate", erased.left)
        }).pipe(Effect.withSpan("Erasure.eraseOwn"))
      }
    })
  )
}
