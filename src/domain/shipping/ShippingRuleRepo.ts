import { Context, Effect, Layer } from "effect"
import { type OrganizationCache, organizationCache } from "../access/OrganizationCache.ts"
import { lookupSql } from "../modules/LookupRepo.ts"
import type { ShippingRuleSet } from "./ShippingRules.ts"

/** Reads what shipping is priced by. */
export class ShippingRuleRepo extends Context.Service<ShippingRuleRepo, {
  /** All active zones of an organization by priority and their active rates by amount, in one statement. */
  readonly rules: (organization: string) => Effect.Effect<ShippingRuleSet>
}>()("stoa/domain/shipping/ShippingRuleRepo") {}

/** `ShippingRuleRepo` over the database of the process. */
export const shippingRuleRepoLayer = Layer.effect(
  ShippingRuleRepo,
  Effect.map(lookupSql, (sql) => {
    const rules = Effect.fnUntraced(function*(organization: string) {
      const [row] = yield* sql<ShippingRuleSet>`select
          coalesce((select jsonb_agg(jsonb_build_object('id', z.id, 'countries', z.countries, 'states', z.states)
            order by z.priority, z.id)
            from shipping_zones z where z.organization_id = ${organization} and z.is_active), '[]') as zones,
          coalesce((select jsonb_agg(jsonb_build_object('id', r.id, 'zoneId', r.zone_id, 'name', r.name,
            'currency', r.currency, 'amount', r.amount, 'minSubtotal', r.min_subtotal, 'maxSubtotal', r.max_subtotal,
            'minWeightGrams', r.min_weight_grams, 'maxWeightGrams', r.max_weight_grams,
            'freeShippingThreshold', r.free_shipping_threshold) order by r.amount, r.id)
            from shipping_rates r where r.organization_id = ${organization} and r.is_active), '[]') as rates`
      return row ?? { zones: [], rates: [] }
    }, Effect.orDie)
    return ShippingRuleRepo.of({ rules })
  })
)

/** The zones and rates of the organization, cached in the process. */
export class ShippingRuleCache extends Context.Service<ShippingRuleCache, OrganizationCache<ShippingRuleSet>>()(
  "stoa/domain/shipping/ShippingRuleCache"
) {
  static readonly layer = Layer.effect(
    ShippingRuleCache,
    Effect.flatMap(ShippingRuleRepo, (repo) => organizationCache("shipping", repo.rules))
  )
}
