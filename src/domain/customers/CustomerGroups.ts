import { Context, Effect, Layer } from "effect"
import { Hooks } from "../platform/hooks/Hooks.ts"
import type { CustomerGroupId, CustomerId } from "../platform/ids/Id.ts"
import type { PageRequest } from "../platform/paging/Paging.ts"
import { recordService, withSent } from "../platform/resources/RecordService.ts"
import type { CustomerGroup, CustomerGroupChange, NewCustomerGroup } from "./CustomerGroup.ts"
import { CustomerGroupRepo } from "./CustomerGroupRepo.ts"

/** Customer groups and their members (contract, platform §8). A group with members is not deleted: 409. */
export class CustomerGroups extends Context.Service<CustomerGroups>()("stoa/domain/customers/CustomerGroups", {
  make: Effect.gen(function*() {
    const repo = yield* CustomerGroupRepo
    const hooks = yield* Hooks
    const groups = recordService(
      {
        name: "Customer group",
        made: ({ description = null, metadata, name }: NewCustomerGroup, record) =>
          Effect.succeed<CustomerGroup>({ ...record, name, description, metadata: metadata ?? {} }),
        changed: (before: CustomerGroup, { metadata, ...sent }: CustomerGroupChange) =>
          Effect.succeed(withSent(before, { ...sent, metadata: metadata === null ? {} : metadata }))
      },
      repo,
      Effect.void
    )

    return {
      ...groups,
      members: Effect.fn("CustomerGroups.members")(function*(id: CustomerGroupId, page: PageRequest) {
        yield* groups.get(id)
        return yield* repo.members(id, page)
      }),
      /** Adds or removes a customer; idempotent. Runs `customers.afterUpdate`. */
      setMember: Effect.fn("CustomerGroups.setMember")(
        function*(id: CustomerGroupId, customerId: CustomerId, member: boolean) {
          const changed = yield* repo.setMember(id, customerId, member)
          if (changed !== undefined) yield* hooks.after("customers.afterUpdate", changed)
        }
      )
    }
  })
}) {
  static readonly layer = Layer.effect(CustomerGroups, CustomerGroups.make)
}
