import { Context, Effect, Layer } from "effect"
import { newId } from "../ids/Id.ts"
import type { PageRequest } from "../paging/Paging.ts"
import { AddressRepo } from "./AddressRepo.ts"
import { AddressNotFound, addressOf, type NewAddress } from "./Customer.ts"
import { Customers } from "./Customers.ts"

/** Addresses of customers (spec §4 `/me/addresses`, contract, platform §7, §8). */
export class Addresses extends Context.Service<Addresses>()("stoa/domain/customers/Addresses", {
  make: Effect.gen(function*() {
    const repo = yield* AddressRepo
    const customers = yield* Customers

    /** A page of the caller's addresses, oldest first. */
    const own = Effect.fn("Addresses.own")(function*(page: PageRequest) {
      return yield* repo.list((yield* customers.ownProfile).id, page)
    })

    /** A page of the addresses of any customer of the organization; 404 for an unknown customer. */
    const of = Effect.fn("Addresses.of")(function*(customerId: string, page: PageRequest) {
      yield* customers.mustExist(customerId)
      return yield* repo.list(customerId, page)
    })

    /** Adds an address to the caller's profile; 409 at `maxAddresses`. */
    const add = Effect.fn("Addresses.add")(function*(sent: NewAddress) {
      const address = addressOf(newId(), (yield* customers.ownProfile).id, sent)
      yield* repo.add(address)
      return address
    })

    /** Deletes an address of the caller; 404 for any other address. */
    const remove = Effect.fn("Addresses.remove")(function*(id: string) {
      if (!(yield* repo.remove((yield* customers.ownProfile).id, id))) return yield* new AddressNotFound()
    })

    return { own, of, add, remove }
  })
}) {
  static readonly layer = Layer.effect(Addresses, Addresses.make)
}
