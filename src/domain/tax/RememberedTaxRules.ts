import { Context, Effect, Layer } from "effect"
import { type OrganizationMemory, organizationMemory } from "../access/OrganizationMemory.ts"
import { TaxRuleRepo } from "./TaxRuleRepo.ts"
import type { TaxRules } from "./TaxRules.ts"

/** The active classes and rates of the organization, remembered by the process. */
export class RememberedTaxRules
  extends Context.Service<RememberedTaxRules, OrganizationMemory<TaxRules>>()("stoa/domain/tax/RememberedTaxRules")
{
  static readonly layer = Layer.effect(
    RememberedTaxRules,
    Effect.flatMap(TaxRuleRepo, (repo) => organizationMemory("tax", repo.active))
  )
}
