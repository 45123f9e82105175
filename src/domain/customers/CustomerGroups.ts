import { Context, Effect, Layer } from "effect"
import { CurrentActor } from "../platform/access/Actor.ts"
import { Hooks } from "../platform/hooks/Hooks.ts"
import type { CustomerGroupId, CustomerId } from "../platform/ids/Id.ts"
import type { PageRequest } from "../platform/paging/Paging.ts"
import { recordService, withSent } from "../platform/resources/RecordService.ts"
import type { CustomerGroup, CustomerGroupChange, NewCustomerGroup } from "./CustomerGroup.ts"
import { CustomerGroupRepo } from "./CustomerGroupRepo.ts"
import { CustomerRepo } from "./CustomerRepo.ts"
import { changedExemption, OwnTaxExemption } from "./TaxExemption.ts"
import { TaxExemptionRepo } from "./TaxExemptionRepo.ts"

/** Customer groups and their members (contract, platform §8). A group with members is not deleted: 409. */
export class CustomerGroups extends Context.Service<CustomerGroups>()("stoa/domain/customers/CustomerGroups", {
  make: Effect.gen(function*() {
    const repo = yield* CustomerGroupRepo
    const hooks = yield* Hooks
    const exemptions = yield* TaxExemptionRepo
    const own = Effect.flatMap(CurrentActor, (yield* CustomerRepo).existingProfileOf)
    const groups = recordService(
      {
        name: "Customer group",
        made: ({ description = null, metadata, name }: NewCustomerGroup, record) =>
          Effect.succeed<CustomerGroup>({ ...record, name, description, taxExemption: null, metadata: metadata ?? {} }),
        changed: (before: CustomerGroup, { metadata, ...sent }: CustomerGroupChange) => {
          const taxExemption = changedExemption(sent.taxExemption, before.taxExemption)
          return Effect.succeed(
            withSent(before, { ...sent, taxExemption, metadata: metadata === null ? {} : metadata })
          )
        }
      },
      repo,
      exemptions.forget
    )

    return {
      ...groups,
      /** 403 for the tax exemption of a group that the caller is in. */
      change: Effect.fn("CustomerGroups.change")(function*(id: CustomerGroupId, sent: CustomerGroupChange) {
        const exempts = (sent.taxExemption ?? null) !== null
        if (exempts && (yield* own)?.groupIds.includes(id) === true) return yield* new OwnTaxExemption()
        return yield* groups.change(id, sent)
      }),
      members: Effect.fn("CustomerGroups.members")(function*(id: CustomerGroupId, page: PageRequest) {
        yield* groups.get(id)
        return yield* repo.members(id, page)
      }),
      /** Adds or removes a customer; idempotent. Runs `customers.afterUpdate`. 403 for the caller in an exempt group. */
      setMember: Effect.fn("CustomerGroups.setMember")(
        function*(id: CustomerGroupId, customerId: CustomerId, member: boolean) {
          if (member && (yield* own)?.id === customerId && (yield* groups.get(id)).taxExemption !== null) {
            return yield* new OwnTaxExemption()
          }
          const changed = yield* repo.setMember(id, customerId, member)
          if (changed !== undefined) yield* hooks.after("customers.afterUpdate", changed)
        }
      )
    }
  })
}) {
  static readonly layer = Layer.effect(CustomerGroups, CustomerGroups.make)
}
