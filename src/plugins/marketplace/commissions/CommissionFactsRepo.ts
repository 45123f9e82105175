import { Effect, Schema } from "effect"
import { CurrentActor, type EntityId, type PluginDatabase, rowsOf } from "stoa/plugin"

/** What of a vendor its commission goes by. */
export interface VendorFacts {
  readonly tier: string
  readonly commissionRateBps: number
  /** What it sold in the thirty days before, by currency, minor units. */
  readonly volumes: ReadonlyMap<string, number>
}

/** Vendors by id, and categories of entities: their slugs and those above them, with the number of steps up. */
export interface CommissionFacts {
  readonly vendors: ReadonlyMap<string, VendorFacts>
  readonly categories: ReadonlyMap<string, ReadonlyMap<string, number>>
}

const byText = Schema.Record(Schema.String, Schema.Int)
const FactsRow = Schema.Struct({
  vendors: Schema.Array(Schema.Struct({ id: Schema.String, tier: Schema.String, rate: Schema.Int, volumes: byText })),
  categories: Schema.Array(Schema.Struct({ entity: Schema.String, slugs: byText }))
})
const facts = rowsOf(FactsRow)
const places = rowsOf(Schema.Struct({ slug: Schema.String, steps: Schema.Int }))

const toFacts = (row: typeof FactsRow.Type): CommissionFacts => ({
  vendors: new Map(row.vendors.map(({ id, rate, tier, volumes }) => [
    id,
    { tier, commissionRateBps: rate, volumes: new Map(Object.entries(volumes)) }
  ])),
  categories: new Map(row.categories.map(({ entity, slugs }) => [entity, new Map(Object.entries(slugs))]))
})

/** Reads in one statement what the choice of a commission needs, for any number of lines. */
export const readFacts = Effect.fnUntraced(function*(
  { sql }: PluginDatabase["Service"],
  vendorIds: ReadonlyArray<string>,
  entityIds: ReadonlyArray<EntityId>
) {
  const { organizationId } = yield* CurrentActor
  // A category may be reached over several of an entity's own: its nearest place counts. `union` ends a circle of parents.
  const [row] = yield* facts(sql)`with recursive above as (
      select e.entity_id, c.id, c.slug, c.parent_id, 0 as steps
      from entity_categories e join categories c on c.id = e.category_id and c.organization_id = ${organizationId}
      where e.organization_id = ${organizationId} and e.entity_id = any(${entityIds}::uuid[])
      union
      select a.entity_id, c.id, c.slug, c.parent_id, a.steps + 1
      from above a join categories c on c.id = a.parent_id and c.organization_id = ${organizationId}
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
        select entity_id, jsonb_object_agg(slug, steps) as slugs from nearest group by entity_id) n), '[]') as categories`
  return toFacts(row ?? { vendors: [], categories: [] })
}, Effect.orDie)

/** A category by its slug and those above it, with the number of steps up; the slug alone where there is none such. */
export const readAncestors = Effect.fnUntraced(function*({ sql }: PluginDatabase["Service"], slug: string) {
  const { organizationId } = yield* CurrentActor
  const rows = yield* places(sql)`with recursive above as (
      select slug, parent_id, 0 as steps from categories where organization_id = ${organizationId} and slug = ${slug}
      union
      select c.slug, c.parent_id, a.steps + 1
      from above a join categories c on c.id = a.parent_id and c.organization_id = ${organizationId}
      where a.steps < 50)
    select slug, min(steps)::int4 as steps from above group by slug`
  return new Map([[slug, 0], ...rows.map((row) => [row.slug, row.steps] as const)])
}, Effect.orDie)
