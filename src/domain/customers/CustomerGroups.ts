import { Context, DateTime, Effect, Layer } from "effect"
import { CurrentActor } from "../access/Actor.ts"
import { NotFound } from "../errors/ApiErrors.ts"
import { Hooks } from "../hooks/Hooks.ts"
import { newId } from "../ids/Id.ts"
import type { PageRequest } from "../paging/Paging.ts"
import { over } from "../pricing/Bounds.ts"
import type { CustomerGroup, CustomerGroupChange, NewCustomerGroup } from "./CustomerGroup.ts"
import { CustomerGroupRepo } from "./CustomerGroupRepo.ts"
import { GroupMemberRepo } from "./GroupMemberRepo.ts"

/** Customer groups and their members (contract, platform §8). */
export class CustomerGroups extends Context.Service<CustomerGroups>()("stoa/domain/customers/CustomerGroups", {
  make: Effect.gen(function*() {
    const repo = yield* CustomerGroupRepo
    const memberships = yield* GroupMemberRepo
    const hooks = yield* Hooks
    const clock = Effect.map(DateTime.now, DateTime.toDateUtc)
    const unknown = NotFound.of("Customer group not found.")

    const get = Effect.fn("CustomerGroups.get")(function*(id: string) {
      return (yield* repo.find(id)) ?? (yield* unknown)
    })

    /** Creates a group; 409 when the name is taken. */
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

    /** 409 while the group has members: they would silently lose their prices. */
    const remove = Effect.fn("CustomerGroups.remove")(function*(id: string) {
      if (!(yield* repo.remove(id))) return yield* unknown
    })

    /** A page of the customers in a group, last joined first. */
    const members = Effect.fn("CustomerGroups.members")(function*(id: string, page: PageRequest) {
      yield* get(id)
      return yield* memberships.list(id, page)
    })

    /** Adds a customer to a group or removes them; idempotent. Runs `customers.afterUpdate`. */
    const setMember = Effect.fn("CustomerGroups.setMember")(
      function*(id: string, customerId: string, member: boolean) {
        const outcome = yield* memberships.set(id, customerId, member)
        if (outcome._tag === "Unknown") {
          return yield* outcome.what === "group" ? unknown : NotFound.of("Customer not found.")
        }
        if (outcome._tag === "Changed") yield* hooks.after("customers.afterUpdate", outcome.customer)
      }
    )

    return {
      get,
      /** A page by name. */
      list: repo.list,
      create,
      change,
      remove,
      members,
      setMember
    }
  })
}) {
  static readonly layer = Layer.effect(CustomerGroups, CustomerGroups.make)
}
