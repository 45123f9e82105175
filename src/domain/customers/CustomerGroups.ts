import { Context, DateTime, Effect, Layer } from "effect"
import { CurrentActor } from "../access/Actor.ts"
import { type Conflict, NotFound } from "../errors/ApiErrors.ts"
import { Hooks } from "../hooks/Hooks.ts"
import { newId } from "../ids/Id.ts"
import type { PageOf, PageRequest } from "../paging/Paging.ts"
import { over } from "../pricing/Bounds.ts"
import type { Customer } from "./Customer.ts"
import type { CustomerGroup, CustomerGroupChange, NewCustomerGroup } from "./CustomerGroup.ts"
import { CustomerGroupRepo } from "./CustomerGroupRepo.ts"
import { GroupMemberRepo } from "./GroupMemberRepo.ts"

/** Customer groups and their members (contract, platform §8). */
export class CustomerGroups extends Context.Service<CustomerGroups, {
  readonly get: (id: string) => Effect.Effect<CustomerGroup, NotFound, CurrentActor>
  /** A page by name. */
  readonly list: (page: PageRequest) => Effect.Effect<PageOf<CustomerGroup>, never, CurrentActor>
  /** Creates a group; 409 when the name is taken. */
  readonly create: (sent: NewCustomerGroup) => Effect.Effect<CustomerGroup, Conflict, CurrentActor>
  readonly change: (
    id: string,
    sent: CustomerGroupChange
  ) => Effect.Effect<CustomerGroup, NotFound | Conflict, CurrentActor>
  /** 409 while the group has members: they would silently lose their prices. */
  readonly remove: (id: string) => Effect.Effect<void, NotFound | Conflict, CurrentActor>
  /** A page of the customers in a group, last joined first. */
  readonly members: (id: string, page: PageRequest) => Effect.Effect<PageOf<Customer>, NotFound, CurrentActor>
  /** Adds a customer to a group or removes them; idempotent. Runs `customers.afterUpdate`. */
  readonly setMember: (
    id: string,
    customerId: string,
    member: boolean
  ) => Effect.Effect<void, NotFound, CurrentActor>
}>()("stoa/domain/customers/CustomerGroups") {
  static readonly layer = Layer.effect(
    CustomerGroups,
    Effect.gen(function*() {
      const repo = yield* CustomerGroupRepo
      const memberships = yield* GroupMemberRepo
      const hooks = yield* Hooks
      const clock = Effect.map(DateTime.now, DateTime.toDateUtc)
      const unknown = NotFound.of("Customer group not found.")

      const get = Effect.fn("CustomerGroups.get")(function*(id: string) {
        return (yield* repo.find(id)) ?? (yield* unknown)
      })

      const create = Effect.fn("CustomerGroups.create")(function*(sent: NewCustomerGroup) {
        const now = yield* clock
        const group: CustomerGroup = {
          id: newId(),
          organizationId: (yield* CurrentActor).organizationId,
          name: sent.name,
          description: sent.description ?? null,
          metadata: sent.metadata ?? {},
          createdAt: now,
          updatedAt: now
        }
        yield* repo.insert(group)
        return group
      })

      const change = Effect.fn("CustomerGroups.change")(function*(id: string, sent: CustomerGroupChange) {
        const now = yield* clock
        const changed = yield* repo.change(id, (before) =>
          Effect.succeed({
            ...before,
            name: sent.name ?? before.name,
            description: over(sent.description, before.description),
            metadata: sent.metadata === undefined ? before.metadata : sent.metadata ?? {},
            updatedAt: now
          }))
        return changed ?? (yield* unknown)
      })

      const remove = Effect.fn("CustomerGroups.remove")(function*(id: string) {
        if (!(yield* repo.remove(id))) return yield* unknown
      })

      const members = Effect.fn("CustomerGroups.members")(function*(id: string, page: PageRequest) {
        yield* get(id)
        return yield* memberships.list(id, page)
      })

      const setMember = Effect.fn("CustomerGroups.setMember")(
        function*(id: string, customerId: string, member: boolean) {
          const outcome = yield* memberships.set(id, customerId, member)
          if (outcome._tag === "Unknown") {
            return yield* outcome.what === "group" ? unknown : NotFound.of("Customer not found.")
          }
          if (outcome._tag === "Changed") yield* hooks.after("customers.afterUpdate", outcome.customer)
        }
      )

      return { get, list: repo.list, create, change, remove, members, setMember }
    })
  )
}
