import { Schema } from "effect"
import { EntityId, rowsOf, statement, VariantId, WarehouseId } from "stoa/plugin"

const Goods = Schema.Struct({
  isEntity: Schema.Boolean,
  isVariant: Schema.Boolean,
  isWarehouse: Schema.Boolean,
  title: Schema.NullOr(Schema.String)
})
const goods = rowsOf(Goods)

const Arrival = Schema.Struct({
  entityId: EntityId,
  variantId: Schema.NullOr(VariantId),
  warehouseId: WarehouseId,
  batchNumber: Schema.NullOr(Schema.String),
  expiryDate: Schema.NullOr(Schema.String),
  rejected: Schema.Int,
  /** The cost is further from the order's than the tolerance. */
  costDiffers: Schema.Boolean,
  accepted: Schema.Int,
  /** Stock units that are no longer incoming: not more than were ordered. */
  arrived: Schema.Int,
  /** Of one stock unit in minor units of the store's currency, to ten decimals. */
  unitCost: Schema.String
})
const arrivals = rowsOf(Arrival)

/** What the catalog and the stock know of these things, in their order. */
export const knownGoods = statement(
  "Goods.known",
  function*(
    sql,
    organizationId,
    warehouseId: string,
    lines: ReadonlyArray<{ readonly entityId: string; readonly variantId?: string | null | undefined }>
  ) {
    const asked = lines.map(({ entityId: entity, variantId: variant = null }, n) => ({ n, entity, variant }))
    return yield* goods(sql`select e.id is not null as "isEntity", t.variant is null or v.id is not null as "isVariant",
        w.id is not null as "isWarehouse", a.title
      from jsonb_to_recordset(${JSON.stringify(asked)}::jsonb) t(n int, entity uuid, variant uuid)
      left join lateral (select id from plugin_entities
        where organization_id = ${organizationId} and id = t.entity limit 1) e on true
      left join lateral (select id from plugin_variants
        where organization_id = ${organizationId} and id = t.variant and entity_id = t.entity limit 1) v on true
      left join lateral (select title from plugin_entity_titles
        where organization_id = ${organizationId} and entity_id = t.entity order by locale limit 1) a on true
      left join plugin_warehouses w on w.organization_id = ${organizationId} and w.id = ${warehouseId}::uuid
      order by t.n`)
  }
)

/**
 * Locks a goods receipt that is to be accepted, takes what it received off what is incoming of the order, and gives its lines
 * as they are posted. `tolerance`: percent. One statement for any number of lines.
 */
export const arrive = statement("Goods.arrive", function*(sql, organizationId, grnId: string, tolerance: number) {
  return yield* arrivals(sql`with grn as materialized (select g.id, g.warehouse_id, o.exchange_rate,
          coalesce((o.freight + o.duty)::numeric / nullif(o.subtotal, 0), 0) as landed
        from goods_received_notes g join purchase_orders o on o.id = g.po_id
        where g.organization_id = ${organizationId} and g.id = ${grnId}::uuid for update of g),
      line as materialized (select i.*, grn.warehouse_id, grn.exchange_rate, grn.landed,
          sum(i.stock_received) over (partition by i.po_item_id order by i.id) - i.stock_received as earlier
        from grn_items i join grn on grn.id = i.grn_id),
      item as materialized (select p.* from purchase_order_items p
        where p.id in (select po_item_id from line) order by p.id for no key update),
      arrived as (update purchase_order_items p
        set stock_arrived = least(item.stock_quantity, item.stock_arrived + x.units)
        from item join (select po_item_id, sum(stock_received) as units from line group by 1) x on x.po_item_id = item.id
        where p.id = item.id)
      select line.entity_id as "entityId", line.variant_id as "variantId", line.warehouse_id as "warehouseId",
        line.batch_number as "batchNumber", line.expiry_date::text as "expiryDate", line.quantity_rejected as rejected,
        abs(line.unit_cost - item.unit_cost)::int8 * 100 > item.unit_cost::int8 * ${tolerance}::int as "costDiffers",
        line.stock_accepted as accepted,
        greatest(0, least(line.stock_received, item.stock_quantity - item.stock_arrived - line.earlier))::int as arrived,
        round((line.unit_cost + item.unit_cost * line.landed) * item.quantity_ordered * line.exchange_rate / item.stock_quantity, 10)::text
          as "unitCost"
      from line join item on item.id = line.po_item_id order by line.id`)
})

const matched = rowsOf(Schema.Struct({ isKnown: Schema.Boolean, discrepancy: Schema.NullOr(Schema.String) }))

/**
 * Compares lines of a bill with lines of the order: no more than was accepted, is not on other bills and did not go back
 * without a credit, at the cost ordered within `tolerance` percent. The order is locked.
 */
export const matchBill = statement(
  "Bills.match",
  function*(sql, organizationId, poId: string, lines: ReadonlyArray<object>, tolerance: number) {
    return yield* matched(sql`select p.id is not null as "isKnown", nullif(concat_ws(' and ',
        case when t.quantity + billed.units > accepted.units then 'quantity' end,
        case when abs(t."unitCost" - p.unit_cost)::int8 * 100 > p.unit_cost::int8 * ${tolerance}::int then 'cost' end), '')
        as discrepancy
      from rows from (jsonb_to_recordset(${
      JSON.stringify(lines)
    }::jsonb) as ("poItemId" uuid, quantity int, "unitCost" int))
        with ordinality t ("poItemId", quantity, "unitCost", turn)
        left join purchase_order_items p on p.id = t."poItemId" and p.po_id = ${poId}::uuid
        cross join lateral (select coalesce(sum(i.quantity_accepted - unbilled.units), 0) as units
          from grn_items i join goods_received_notes g on g.id = i.grn_id and g.status in ('accepted', 'accepted_with_discrepancy')
          cross join lateral (select coalesce(sum(r.quantity), 0) as units from supplier_return_items r
            join supplier_returns s on s.id = r.return_id and s.status not in ('cancelled', 'credited')
            where r.grn_item_id = i.id and not s.expects_credit) unbilled
          where g.organization_id = ${organizationId} and i.po_item_id = p.id) accepted
        cross join lateral (select coalesce(sum(i.quantity), 0) as units from supplier_bill_items i
          join supplier_bills b on b.id = i.bill_id and b.status <> 'rejected'
          where b.organization_id = ${organizationId} and i.po_item_id = p.id) billed
      order by turn`)
  }
)

/** Removes the lines of a draft, in one statement. */
export const removeItems = statement("PurchaseOrders.removeItems", function*(sql, organizationId, poId: string) {
  yield* sql`delete from purchase_order_items i using purchase_orders o
      where i.po_id = o.id and o.id = ${poId}::uuid and o.organization_id = ${organizationId}`
})

const documents = rowsOf(Schema.Struct({ document: Schema.String }))

/** An order of an entity that is open, or has an open receipt. */
export const openOrderOf = statement("PurchaseOrders.open", function*(sql, organizationId, entityId: EntityId) {
  const [row] = yield* documents(sql`select 'purchase order ' || o.po_number as document
    from purchase_order_items i join purchase_orders o on o.id = i.po_id
    where o.organization_id = ${organizationId} and i.entity_id = ${entityId}::uuid
      and (o.status not in ('received', 'cancelled') or exists (select from goods_received_notes g
        where g.po_id = o.id and g.status in ('draft', 'inspecting')))
    limit 1`)
  return row?.document
})
