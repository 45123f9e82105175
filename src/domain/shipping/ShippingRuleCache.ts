import { Context, Effect, Layer } from "effect"
import { type OrganizationCache, organizationCache } from "../access/OrganizationCache.ts"
import { ShippingRuleRepo } from "./ShippingRuleRepo.ts"
import type { ShippingRuleSet } from "./ShippingRules.ts"

/** The zones and rates of the organization, cached in the process. */
export class ShippingRuleCache extends Context.Service<ShippingRuleCache, OrganizationCache<ShippingRuleSet>>()(
  "stoa/domain/shipping/ShippingRuleCache"
) {
  static readonly layer = Layer.effect(
    ShippingRuleCache,
    Effect.flatMap(ShippingRuleRepo, (repo) => organizationCache("shipping", repo.rules))
  )
}
