import { Schema } from "effect"
import { about, EntityId, rowsOf, statement, VariantId, WarehouseId } from "stoa/plugin"

/** Something to sell, as a till finds it. */
export const Found = Schema.Struct({
  entityId: EntityId,
  variantId: Schema.NullOr(VariantId),
  entityType: Schema.String.pipe(about("Type of the entity, such as product.")),
  slug: Schema.String,
  title: Schema.NullOr(Schema.String),
  barcode: Schema.NullOr(Schema.String),
  sku: Schema.NullOr(Schema.String)
})

const found = rowsOf(Found)

const sellable = `select e.id as "entityId", v.id as "variantId", e.type as "entityType", e.slug, v.barcode, v.sku,
    (select t.title from plugin_entity_titles t where t.organization_id = e.organization_id and t.entity_id = e.id
      order by t.locale <> 'en' limit 1) as title`

/** Active variants by an exact code, which several may have; at most 20. */
export const byCode = statement(
  "Lookup.byCode",
  function*(sql, organizationId, column: "barcode" | "sku", code: string) {
    return yield* found(sql`${sql.literal(sellable)}
      from plugin_variants v join plugin_entities e on e.id = v.entity_id and e.organization_id = v.organization_id
      where v.organization_id = ${organizationId} and v.${sql.literal(column)} = ${code}
        and v.status = 'active' and e.status = 'active' order by e.slug, v.sort_order, v.id limit 20`)
  }
)

/** Active goods by a part of their title, slug, SKU or barcode; at most 20. */
export const byText = statement("Lookup.byText", function*(sql, organizationId, text: string) {
  const like = `%${text.replaceAll(/[\\%_]/g, (sign) => `\\${sign}`)}%`
  return yield* found(sql`${sql.literal(sellable)}
    from plugin_entities e left join plugin_variants v on v.entity_id = e.id and v.organization_id = e.organization_id
      and v.status = 'active'
    where e.organization_id = ${organizationId} and e.status = 'active'
      and (e.slug ilike ${like} or v.sku ilike ${like} or v.barcode = ${text}
        or exists (select 1 from plugin_entity_titles t where t.organization_id = e.organization_id
          and t.entity_id = e.id and t.title ilike ${like}))
    order by e.slug, v.sort_order, v.id limit 20`)
})

export const StockHere = Schema.Struct({
  warehouseId: WarehouseId,
  warehouse: Schema.String.pipe(about("Name of the warehouse.")),
  variantId: Schema.NullOr(VariantId),
  available: Schema.Int.pipe(about("Units that can be sold now."))
})
const stock = rowsOf(StockHere)

/** Units that can be sold, by warehouse. */
export const stockOf = statement("Lookup.stock", function*(sql, organizationId, entityId: EntityId) {
  return yield* stock(sql`select w.id as "warehouseId", w.name as warehouse, s.variant_id as "variantId",
      (s.quantity_on_hand - s.quantity_reserved)::int as available
    from plugin_stock_levels s join plugin_warehouses w on w.id = s.warehouse_id and w.organization_id = s.organization_id
    where s.organization_id = ${organizationId} and s.entity_id = ${entityId}::uuid and w.is_active
    order by w.priority, w.id, s.variant_id`)
})
