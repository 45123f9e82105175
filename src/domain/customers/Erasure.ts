import { Context, DateTime, Effect, Layer } from "effect"
import { Conflict, NotFound } from "../errors/ApiErrors.ts"
import { Hooks } from "../hooks/Hooks.ts"
import { Customers } from "./Customers.ts"
import { ErasureRepo } from "./ErasureRepo.ts"

/** Maximum orders that a refusal names. */
const named = 5

const stillOpen = (numbers: ReadonlyArray<string>): string =>
  numbers.length === 0
    ? "A checkout is under way. Ask again when it has ended."
    : `Orders are still open: ${numbers.slice(0, named).join(", ")}${numbers.length > named ? " and more" : ""}. ` +
      "They have to be fulfilled or cancelled first."

/** The right to erasure (docs/customers.md). */
export class Erasure extends Context.Service<Erasure>()("stoa/domain/customers/Erasure", {
  make: Effect.gen(function*() {
    const repo = yield* ErasureRepo
    const customers = yield* Customers
    const hooks = yield* Hooks
    return {
      /**
       * Erases the personal data of the signed-in person from the organization and runs `customers.afterUpdate` with
       * the rest of the profile. The login stays; its next visit creates a new profile. 409 while an order is open,
       * since the shop needs the address to ship it.
       */
      eraseOwn: Effect.gen(function*() {
        const { id } = yield* customers.ownProfile
        const erased = yield* repo.erase(id, DateTime.toDateUtc(yield* DateTime.now))
        if (erased._tag === "Unknown") return yield* NotFound.of("Customer not found.")
        if (erased._tag === "Open") return yield* Conflict.of(stillOpen(erased.orderNumbers))
        yield* hooks.after("customers.afterUpdate", erased.left)
      }).pipe(Effect.withSpan("Erasure.eraseOwn"))
    }
  })
}) {
  static readonly layer = Layer.effect(Erasure, Erasure.make)
}
