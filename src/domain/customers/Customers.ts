import { Context, DateTime, Effect, Layer } from "effect"
import { CurrentActor } from "../access/Actor.ts"
import { type Conflict, NotFound, Unauthorized } from "../errors/ApiErrors.ts"
import { Hooks } from "../hooks/Hooks.ts"
import { isUuid, newId } from "../ids/Id.ts"
import type { PageOf, PageRequest } from "../paging/Paging.ts"
import type { Customer, CustomerChange, NewCustomer, ProfileChange } from "./Customer.ts"
import { CustomerRepo } from "./CustomerRepo.ts"
import { changedCustomer, type MetadataMode, newCustomer } from "./CustomerRules.ts"

/** Customer profiles: the caller's, and those that staff manages (spec §4 `/me`; contract §2, platform §7, §8). */
export class Customers extends Context.Service<Customers, {
  /**
   * Profile of the signed-in user, created on first use, which runs `customers.afterCreate`; null for anonymous
   * visitors and API keys.
   */
  readonly ownProfileId: Effect.Effect<string | null, never, CurrentActor>
  /** The existing profile of the signed-in user, for reads; does not create one. */
  readonly existingProfile: Effect.Effect<Customer | null, never, CurrentActor>
  /** The same as a record; 401 for visitors and API keys. */
  readonly ownProfile: Effect.Effect<Customer, Unauthorized, CurrentActor>
  /** Changes the caller's profile; runs `customers.afterUpdate` when something differs. */
  readonly changeOwn: (sent: ProfileChange) => Effect.Effect<Customer, Unauthorized | NotFound, CurrentActor>
  /** Creates a customer for staff; 409 when the login has a profile. Runs `customers.afterCreate`. */
  readonly create: (sent: NewCustomer) => Effect.Effect<Customer, Conflict, CurrentActor>
  /** Changes any profile of the organization; runs `customers.afterUpdate` when something differs. */
  readonly change: (
    customerId: string,
    sent: CustomerChange,
    metadata: MetadataMode
  ) => Effect.Effect<Customer, NotFound, CurrentActor>
  /** One profile; 404. */
  readonly get: (customerId: string) => Effect.Effect<Customer, NotFound, CurrentActor>
  /** A page of profiles, newest first. */
  readonly list: (page: PageRequest) => Effect.Effect<PageOf<Customer>, never, CurrentActor>
  /** 404 unless the organization has this customer. */
  readonly mustExist: (customerId: string) => Effect.Effect<void, NotFound, CurrentActor>
  /** Stored groups of a profile; empty for an unknown one. Groups that a client claims never count here. */
  readonly groupsOf: (customerId: string) => Effect.Effect<ReadonlyArray<string>, never, CurrentActor>
}>()("stoa/domain/customers/Customers") {
  static readonly layer = Layer.effect(
    Customers,
    Effect.gen(function*() {
      const repo = yield* CustomerRepo
      const hooks = yield* Hooks
      const clock = Effect.map(DateTime.now, DateTime.toDateUtc)

      const opened = Effect.gen(function*() {
        const actor = yield* CurrentActor
        // Nearly every user has a profile: the statement that would create it, with its entry, is more expensive.
        const known = yield* repo.existingProfileOf(actor)
        if (known !== null) return known
        const profile = yield* repo.openProfile(actor)
        if (profile?.made) yield* hooks.after("customers.afterCreate", profile.customer)
        return profile?.customer ?? null
      })

      const ownProfile = Effect.flatMap(opened, (own) => own === null ? Unauthorized.of() : Effect.succeed(own))

      const get = Effect.fn("Customers.get")(function*(customerId: string) {
        const found = isUuid(customerId) ? yield* repo.find(customerId) : undefined
        return found ?? (yield* NotFound.of("Customer not found."))
      })

      const change = Effect.fn("Customers.change")(function*(id: string, sent: CustomerChange, mode: MetadataMode) {
        const now = yield* clock
        const outcome = yield* repo.change(id, (before) => changedCustomer(before, sent, mode, now))
        if (outcome === undefined) return yield* NotFound.of("Customer not found.")
        if (outcome.changed) yield* hooks.after("customers.afterUpdate", outcome.customer)
        return outcome.customer
      })

      const create = Effect.fn("Customers.create")(function*(sent: NewCustomer) {
        const { organizationId } = yield* CurrentActor
        const customer = newCustomer(sent, { id: newId(), organizationId, now: yield* clock })
        yield* repo.insert(customer)
        yield* hooks.after("customers.afterCreate", customer)
        return customer
      })

      const changeOwn = Effect.fn("Customers.changeOwn")(
        function*({ firstName, lastName, metadata, phone }: ProfileChange) {
          // Copy field by field: a caller with more fields than the owner may set must not change those.
          return yield* change((yield* ownProfile).id, { firstName, lastName, metadata, phone }, "replace")
        }
      )

      return {
        ownProfileId: Effect.map(opened, (own) => own?.id ?? null),
        ownProfile,
        existingProfile: Effect.flatMap(CurrentActor, repo.existingProfileOf),
        changeOwn,
        create,
        change,
        get,
        list: repo.list,
        mustExist: Effect.fn("Customers.mustExist")((customerId: string) => Effect.asVoid(get(customerId))),
        groupsOf: repo.groupsOf
      }
    })
  )
}
