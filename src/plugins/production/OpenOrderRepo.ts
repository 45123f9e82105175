import { Schema } from "effect"
import { about, EntityId, rowsOf, statement, VariantId } from "stoa/plugin"

const documents = rowsOf(Schema.Struct({ document: Schema.String }))

/** A production order that is open and makes the entity, or has taken some of it. */
export const openOrderOf = statement("ProductionOrders.open", function*(sql, organizationId, entityId: EntityId) {
  const [row] = yield* documents(sql`select 'production order ' || o.order_number as document
    from production_orders o
    where o.organization_id = ${organizationId} and o.status in ('planned', 'in_progress')
      and (o.entity_id = ${entityId}::uuid or exists (select from production_consumption c
        where c.production_order_id = o.id and c.entity_id = ${entityId}::uuid))
    limit 1`)
  return row?.document
})

export const Suggestion = Schema.Struct({
  bomId: Schema.String,
  entityId: EntityId,
  variantId: Schema.NullOr(VariantId),
  name: Schema.String,
  wanted: Schema.Int.pipe(about("Units that open orders wait for, and that thresholds ask to keep.")),
  supply: Schema.Int.pipe(about("Units on hand, incoming and in transit.")),
  inProduction: Schema.Int.pipe(about("Units of open production orders.")),
  quantity: Schema.Int.annotate({ description: "Units to produce." })
})
const suggested = rowsOf(Suggestion)
const totals = rowsOf(Schema.Struct({ total: Schema.Int }))

/** Products to make, most missing first: open orders and reorder thresholds, less stock, deliveries and production. */
export const suggestions = statement(
  "Production.suggestions",
  function*(sql, organizationId, page: { readonly limit: number; readonly offset: number }) {
    const same = sql`organization_id = ${organizationId} and entity_id = b.entity_id
      and variant_id is not distinct from b.variant_id`
    const short = sql`(select b.id as "bomId", b.entity_id as "entityId", b.variant_id as "variantId", b.name,
        (ordered.units - shipped.units + stock.minimum)::int as wanted, stock.units::int as supply, made.units::int as "inProduction",
        (ordered.units - shipped.units + stock.minimum - stock.units - made.units)::int as quantity
      from production_boms b
        cross join lateral (select coalesce(sum(quantity_on_hand + quantity_incoming + quantity_in_transit), 0) as units,
          coalesce(sum(reorder_threshold), 0) as minimum from plugin_stock_levels where ${same}) stock
        cross join lateral (select coalesce(sum(quantity - produced_quantity - scrap_quantity), 0) as units
          from production_orders where ${same} and status in ('planned', 'in_progress')) made
        cross join lateral (select coalesce(array_agg(distinct o.id), '{}') as orders,
            coalesce(sum(l.quantity - l.refunded_quantity), 0) as units
          from plugin_order_lines l join plugin_orders o on o.organization_id = l.organization_id and o.id = l.order_id
          where l.organization_id = ${organizationId} and l.entity_id = b.entity_id
            and l.variant_id is not distinct from b.variant_id and o.status in ('pending', 'confirmed', 'processing', 'partially_fulfilled')
            and not o.is_draft and l.fulfillment_status <> 'fulfilled') ordered
        cross join lateral (select coalesce(sum(t.quantity), 0) as units
          from plugin_fulfillments f cross join lateral jsonb_to_recordset(f.taken) t (sellable uuid, quantity int)
          where f.organization_id = ${organizationId} and f.order_id = any(ordered.orders)
            and f.status <> 'cancelled' and t.sellable = coalesce(b.variant_id, b.entity_id)) shipped
      where b.organization_id = ${organizationId} and b.is_active
        and (b.valid_to is null or b.valid_to >= (now() at time zone 'utc')::date)) s where quantity > 0`
    const items = yield* suggested(sql`select * from ${short}
      order by quantity desc, "bomId" limit ${page.limit} offset ${page.offset}`)
    const [counted] = yield* totals(sql`select count(*)::int as total from ${short}`)
    return { items, total: counted?.total ?? 0 }
  }
)
