import { Context, Effect, Layer } from "effect"
import { type OrganizationCache, organizationCache } from "../access/OrganizationCache.ts"
import { lookupSql } from "../modules/LookupRepo.ts"
import type { TaxRules } from "./TaxRules.ts"

/** The tax rules of an organization that a checkout needs. */
export class TaxRuleRepo extends Context.Service<TaxRuleRepo, {
  /** All active classes and rates of an organization, in one statement. */
  readonly active: (organizationId: string) => Effect.Effect<TaxRules>
}>()("stoa/domain/tax/TaxRuleRepo") {}

/** `TaxRuleRepo` over the database of the process. */
export const taxRuleRepoLayer = Layer.effect(
  TaxRuleRepo,
  Effect.map(lookupSql, (lookup) =>
    TaxRuleRepo.of({
      active: Effect.fn("TaxRuleRepo.active")(function*(organizationId: string) {
        const [rules] = yield* lookup<TaxRules>`select
          coalesce((select jsonb_agg(jsonb_build_object('name', name, 'rateBps', rate_bps, 'isDefault', is_default)
            order by name) from tax_classes where organization_id = ${organizationId} and is_active), '[]') as classes,
          coalesce((select jsonb_agg(jsonb_build_object('country', country, 'state', state, 'rateBps', rate_bps,
            'appliesToShipping', applies_to_shipping) order by priority, id)
            from tax_rates where organization_id = ${organizationId} and is_active), '[]') as rates`
        return rules ?? { classes: [], rates: [] }
      }, Effect.orDie)
    }))
)

/** The active classes and rates of the organization, cached in the process. */
export class TaxRuleCache
  extends Context.Service<TaxRuleCache, OrganizationCache<TaxRules>>()("stoa/domain/tax/TaxRuleCache")
{
  static readonly layer = Layer.effect(
    TaxRuleCache,
    Effect.flatMap(TaxRuleRepo, (repo) => organizationCache("tax", repo.active))
  )
}
