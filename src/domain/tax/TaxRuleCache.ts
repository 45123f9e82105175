import { Context, Effect, Layer } from "effect"
import { type OrganizationCache, organizationCache } from "../access/OrganizationCache.ts"
import { TaxRuleRepo } from "./TaxRuleRepo.ts"
import type { TaxRules } from "./TaxRules.ts"

/** The active classes and rates of the organization, cached in the process. */
export class TaxRuleCache
  extends Context.Service<TaxRuleCache, OrganizationCache<TaxRules>>()("stoa/domain/tax/TaxRuleCache")
{
  static readonly layer = Layer.effect(
    TaxRuleCache,
    Effect.flatMap(TaxRuleRepo, (repo) => organizationCache("tax", repo.active))
  )
}
