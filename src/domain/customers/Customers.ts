import { Context, DateTime, Effect, Layer } from "effect"
import { type Actor, CurrentActor, isSignedIn } from "../platform/access/Actor.ts"
import { Unauthorized } from "../platform/errors/ApiErrors.ts"
import { Hooks } from "../platform/hooks/Hooks.ts"
import { type CustomerId, isUuid, newId } from "../platform/ids/Id.ts"
import {
  changedCustomer,
  type CustomerChange,
  CustomerNotFound,
  type MetadataMode,
  type NewCustomer,
  newCustomer,
  type ProfileChange
} from "./Customer.ts"
import { CustomerRepo } from "./CustomerRepo.ts"
import { OwnTaxExemption } from "./TaxExemption.ts"
import { TaxExemptionRepo } from "./TaxExemptionRepo.ts"

/** Customer profiles of callers and of staff (spec §4 `/me`; contract §2, platform §7, §8). */
export class Customers extends Context.Service<Customers>()("stoa/domain/customers/Customers", {
  make: Effect.gen(function*() {
    const repo = yield* CustomerRepo
    const hooks = yield* Hooks
    const exemptions = yield* TaxExemptionRepo
    const clock = Effect.map(DateTime.now, DateTime.toDateUtc)

    const openedBy = Effect.fnUntraced(function*(actor: Actor) {
      // Nearly every user has a profile: the statement that would create it, with its entry, is more expensive.
      const known = yield* repo.existingProfileOf(actor)
      if (known !== null) return known
      const profile = yield* repo.openProfile(actor)
      if (profile?.made) yield* hooks.after("customers.afterCreate", profile.customer)
      return profile?.customer ?? null
    })

    /**
     * The caller's profile, created on first use, which runs `customers.afterCreate`; null for visitors and API keys.
     */
    const opened = Effect.flatMap(
      CurrentActor,
      (actor) => isSignedIn(actor) ? openedBy(actor) : Effect.succeed(null)
    )

    /** The same, but 401 for visitors and API keys. */
    const ownProfile = Effect.flatMap(opened, (own) => own === null ? Unauthorized.of() : Effect.succeed(own))

    const get = Effect.fn("Customers.get")(function*(customerId: CustomerId) {
      return (yield* repo.find(customerId)) ?? (yield* new CustomerNotFound())
    })

    const requireOther = Effect.fnUntraced(function*(id: CustomerId) {
      if ((yield* repo.existingProfileOf(yield* CurrentActor))?.id === id) return yield* new OwnTaxExemption()
    })

    /** 403 for the caller's own tax exemption. */
    const change = Effect.fn("Customers.change")(function*(id: CustomerId, sent: CustomerChange, mode: MetadataMode) {
      if ((sent.taxExemption ?? null) !== null) yield* requireOther(id)
      const now = yield* clock
      const customer = yield* repo.change(id, (before) => changedCustomer(before, sent, mode, now))
      if (customer === undefined) return yield* new CustomerNotFound()
      if (sent.taxExemption !== undefined) yield* exemptions.forget
      if (customer.updatedAt === now) yield* hooks.after("customers.afterUpdate", customer)
      return customer
    })

    /** Creates a customer; 409 when the login has a profile. Runs `customers.afterCreate`. */
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
      /** The id of a customer; 404. */
      mustExist: Effect.fn("Customers.mustExist")(function*(named: string) {
        if (!isUuid<CustomerId>(named)) return yield* new CustomerNotFound()
        return (yield* get(named)).id
      }),
      buyer: repo.buyer,
      /** The tax exemption that counts now: the customer's, else one of their groups. */
      exemptionOf: exemptions.of
    }
  })
}) {
  static readonly layer = Layer.effect(Customers, Customers.make)
}
