import { Context, DateTime, Effect, Layer } from "effect"
import { CurrentActor } from "../platform/access/Actor.ts"
import { type AddressId, type CustomerId, type InteractionId, newId } from "../platform/ids/Id.ts"
import type { PageRequest } from "../platform/paging/Paging.ts"
import { withSent } from "../platform/resources/RecordService.ts"
import { AddressNotFound, addressOf, CustomerNotFound, type NewAddress } from "./Customer.ts"
import { AddressRepo, InteractionRepo } from "./CustomerRecordsRepo.ts"
import { Customers } from "./Customers.ts"
import { type Interaction, type InteractionChange, InteractionNotFound, type NewInteraction } from "./Interaction.ts"

/** Addresses of customers (spec §4 `/me/addresses`, contract, platform §7, §8). */
export class Addresses extends Context.Service<Addresses>()("stoa/domain/customers/Addresses", {
  make: Effect.gen(function*() {
    const repo = yield* AddressRepo
    const customers = yield* Customers

    const own = Effect.fn("Addresses.own")(function*(page: PageRequest) {
      return yield* repo.list((yield* customers.ownProfile).id, page)
    })

    const of = Effect.fn("Addresses.of")(function*(customerId: CustomerId, page: PageRequest) {
      yield* customers.mustExist(customerId)
      return yield* repo.list(customerId, page)
    })

    /** Adds an address to the caller's profile; 409 at `maxAddresses`. */
    const add = Effect.fn("Addresses.add")(function*(sent: NewAddress) {
      const address = addressOf(newId(), (yield* customers.ownProfile).id, sent)
      yield* repo.add(address)
      return address
    })

    const remove = Effect.fn("Addresses.remove")(function*(id: AddressId) {
      if (!(yield* repo.remove((yield* customers.ownProfile).id, id))) return yield* new AddressNotFound()
    })

    return { own, of, add, remove }
  })
}) {
  static readonly layer = Layer.effect(Addresses, Addresses.make)
}

/** Staff notes about customers (contract, platform §8). 404 for an unknown customer or note. */
export class Interactions extends Context.Service<Interactions>()("stoa/domain/customers/Interactions", {
  make: Effect.gen(function*() {
    const repo = yield* InteractionRepo
    const customers = yield* Customers
    const clock = Effect.map(DateTime.now, DateTime.toDateUtc)

    const list = Effect.fn("Interactions.list")(function*(customerId: CustomerId, page: PageRequest) {
      yield* customers.mustExist(customerId)
      return yield* repo.list(customerId, page)
    })

    const create = Effect.fn("Interactions.create")(function*(customerId: CustomerId, sent: NewInteraction) {
      const [{ organizationId, userId: createdBy }, now] = [yield* CurrentActor, yield* clock]
      const { kind, metadata, notes, relatedEntityId = null } = sent
      const interaction: Interaction = {
        id: newId(),
        organizationId,
        customerId,
        kind,
        notes,
        relatedEntityId,
        metadata: metadata ?? {},
        createdBy,
        createdAt: now,
        updatedAt: now
      }
      return (yield* repo.insert(interaction)) ? interaction : yield* new CustomerNotFound()
    })

    const change = Effect.fn("Interactions.change")(
      function*(customerId: CustomerId, id: InteractionId, { metadata, ...sent }: InteractionChange) {
        const updatedAt = yield* clock
        const set = { ...sent, metadata: metadata === null ? {} : metadata, updatedAt }
        return (yield* repo.change(customerId, id, (before) => withSent(before, set))) ??
          (yield* new InteractionNotFound())
      }
    )

    const remove = Effect.fn("Interactions.remove")(function*(customerId: CustomerId, id: InteractionId) {
      if (!(yield* repo.remove(customerId, id))) return yield* new InteractionNotFound()
    })

    return { list, create, change, remove }
  })
}) {
  static readonly layer = Layer.effect(Interactions, Interactions.make)
}
