import { Schema } from "effect"
import { EntityId, rowsOf, statement, VariantId, WarehouseId } from "stoa/plugin"

const Shortage = Schema.Struct({
  ruleId: Schema.String,
  entityId: EntityId,
  variantId: Schema.NullOr(VariantId),
  warehouseId: WarehouseId,
  /** The only supplier that may be asked. */
  supplierId: Schema.NullOr(Schema.String),
  /** Stock units up to the target. */
  missing: Schema.Int
})
export type Shortage = typeof Shortage.Type
const shortages = rowsOf(Shortage)

/**
 * Rules of the organization below their minimum, counting what can be sold, what is incoming or on the way, and what drafts
 * and submitted orders already ask for. One statement.
 */
export const shortagesOf = statement("Reorder.shortages", function*(sql, organizationId) {
  return yield* shortages(sql`select r.id as "ruleId", r.entity_id as "entityId", r.variant_id as "variantId",
        r.warehouse_id as "warehouseId", r.supplier_id as "supplierId",
        (r.target_quantity - coalesce(l.units, 0) - coalesce(d.units, 0))::int as missing
      from reorder_rules r
      left join lateral (select quantity_on_hand - quantity_reserved + quantity_incoming + quantity_in_transit as units
        from plugin_stock_levels
        where organization_id = r.organization_id and warehouse_id = r.warehouse_id and entity_id = r.entity_id
          and variant_id is not distinct from r.variant_id limit 1) l on true
      left join lateral (select sum(i.stock_quantity) as units
        from purchase_order_items i join purchase_orders o on o.id = i.po_id
        where i.entity_id = r.entity_id and i.variant_id is not distinct from r.variant_id
          and o.organization_id = r.organization_id and o.warehouse_id = r.warehouse_id
          and o.status in ('draft', 'pending_approval')) d on true
      where r.organization_id = ${organizationId} and r.is_active
        and coalesce(l.units, 0) + coalesce(d.units, 0) < r.min_quantity
      order by r.id`)
})
