import { Context, Effect, Layer } from "effect"
import { type OrganizationMemory, organizationMemory } from "../access/OrganizationMemory.ts"
import { ShippingRuleRepo } from "./ShippingRuleRepo.ts"
import type { ShippingRuleSet } from "./ShippingRules.ts"

/** The zones and rates of the organization, remembered by the process. */
export class RememberedRules extends Context.Service<RememberedRules, OrganizationMemory<ShippingRuleSet>>()(
  "stoa/domain/shipping/RememberedRules"
) {
  static readonly layer = Layer.effect(
    RememberedRules,
    Effect.flatMap(ShippingRuleRepo, (repo) => organizationMemory("shipping", repo.rules))
  )
}
