import { Schema } from "effect"
import { type EntityId, rowsOf, statement } from "stoa/plugin"

const byText = Schema.Record(Schema.String, Schema.Int)

const CommissionFacts = Schema.Struct({
  /** Volumes are what the vendor sold in the thirty days before, by currency, minor units. */
  vendors: Schema.Array(Schema.Struct({ id: Schema.String, tier: Schema.String, rate: Schema.Int, volumes: byText })),
  /** Slugs of an entity's categories and of those above them, with the number of steps up. */
  categories: Schema.Array(Schema.Struct({ entity: Schema.String, slugs: byText }))
})
export type CommissionFacts = typeof CommissionFacts.Type
const facts = rowsOf(CommissionFacts)

/** Reads in one statement what the choice of a commission needs, for any number of lines. */
export const readFacts = statement("CommissionFactsRepo.read", function*(
  sql,
  organizationId,
  vendorIds: ReadonlyArray<string>,
  entityIds: ReadonlyArray<EntityId>
) {
  // A category may be reached over several of an entity's own: its nearest place counts. `union` ends a circle of parents.
  const [row] = yield* facts(sql`with recursive above as (
      select e.entity_id, c.id, c.slug, c.parent_id, 0 as steps
      from plugin_entity_categories e join plugin_categories c on c.id = e.category_id and c.organization_id = ${organizationId}
      where e.organization_id = ${organizationId} and e.entity_id = any(${entityIds}::uuid[])
      union
      select a.entity_id, c.id, c.slug, c.parent_id, a.steps + 1
      from above a join plugin_categories c on c.id = a.parent_id and c.organization_id = ${organizationId}
      where a.steps < 50),
    nearest as (select entity_id, slug, min(steps) as steps from above group by entity_id, slug)
    select coalesce((select jsonb_agg(jsonb_build_object('id', v.id, 'tier', v.tier, 'rate', v.commission_rate_bps,
          'volumes', coalesce((select jsonb_object_agg(s.currency, s.sold) from (
            select currency, sum(subtotal) as sold from marketplace_vendor_sub_orders
            where organization_id = ${organizationId} and vendor_id = v.id and status <> 'cancelled'
              and created_at >= now() - interval '30 days' group by currency) s), '{}')))
        from marketplace_vendors v where v.organization_id = ${organizationId}
          and v.id = any(${vendorIds}::uuid[])), '[]') as vendors,
      coalesce((select jsonb_agg(jsonb_build_object('entity', entity_id, 'slugs', slugs)) from (
        select entity_id, jsonb_object_agg(slug, steps) as slugs from nearest group by entity_id) n), '[]') as categories`)
  return row ?? { vendors: [], categories: [] }
})
