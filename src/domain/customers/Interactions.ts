import { Context, DateTime, Effect, Equal, Layer } from "effect"
import { CurrentActor } from "../access/Actor.ts"
import { NotFound } from "../errors/ApiErrors.ts"
import { newId } from "../ids/Id.ts"
import type { PageRequest } from "../paging/Paging.ts"
import { over } from "../pricing/Bounds.ts"
import { Customers } from "./Customers.ts"
import type { Interaction, InteractionChange, NewInteraction } from "./Interaction.ts"
import { InteractionRepo } from "./InteractionRepo.ts"

/** Staff notes about customers (contract, platform §8). 404 for an unknown customer or note. */
export class Interactions extends Context.Service<Interactions>()("stoa/domain/customers/Interactions", {
  make: Effect.gen(function*() {
    const repo = yield* InteractionRepo
    const customers = yield* Customers
    const clock = Effect.map(DateTime.now, DateTime.toDateUtc)
    const unknown = NotFound.of("Interaction not found.")

    /** A page, newest first. */
    const list = Effect.fn("Interactions.list")(function*(customerId: string, page: PageRequest) {
      yield* customers.mustExist(customerId)
      return yield* repo.list(customerId, page)
    })

    const create = Effect.fn("Interactions.create")(function*(customerId: string, sent: NewInteraction) {
      const [actor, now] = [yield* CurrentActor, yield* clock]
      const interaction: Interaction = {
        id: newId(),
        organizationId: actor.organizationId,
        customerId,
        kind: sent.kind,
        notes: sent.notes,
        relatedEntityId: sent.relatedEntityId ?? null,
        metadata: sent.metadata ?? {},
        createdBy: actor.userId,
        createdAt: now,
        updatedAt: now
      }
      return (yield* repo.insert(interaction)) ? interaction : yield* NotFound.of("Customer not found.")
    })

    const change = Effect.fn("Interactions.change")(
      function*(customerId: string, id: string, sent: InteractionChange) {
        const now = yield* clock
        const changed = yield* repo.change(customerId, id, (before) => {
          const after = {
            ...before,
            kind: sent.kind ?? before.kind,
            notes: sent.notes ?? before.notes,
            relatedEntityId: over(sent.relatedEntityId, before.relatedEntityId),
            metadata: sent.metadata === undefined ? before.metadata : sent.metadata ?? {}
          }
          return Equal.equals(after, before) ? before : { ...after, updatedAt: now }
        })
        return changed ?? (yield* unknown)
      }
    )

    const remove = Effect.fn("Interactions.remove")(function*(customerId: string, id: string) {
      if (!(yield* repo.remove(customerId, id))) return yield* unknown
    })

    return { list, create, change, remove }
  })
}) {
  static readonly layer = Layer.effect(Interactions, Interactions.make)
}
