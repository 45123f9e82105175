import type { SqlClient } from "effect/sql"
import type { StockAllocation } from "./StockRules.ts"

/**
 * Returns handed-over units to the warehouse they left, reserved for their order again, in one statement: on hand and
 * reserved grow equally, in SQL arithmetic. The caller has locked the hold; versions are locked by key before the
 * levels, as in every stock writer.
 */
export const returnToHoldStatement = (
  sql: SqlClient.SqlClient,
  organization: string,
  orderId: string,
  units: ReadonlyArray<StockAllocation>
) => {
  const sellables = units.map(({ sellable }) => sellable)
  return sql`with lines as materialized (
      select sellable_id, warehouse_id, sum(quantity)::int4 as quantity
      from unnest(${sellables}::uuid[], ${units.map(({ warehouseId }) => warehouseId)}::uuid[],
        ${units.map(({ quantity }) => quantity)}::int4[]) l(sellable_id, warehouse_id, quantity)
      group by sellable_id, warehouse_id),
    locked as materialized (
      select sellable_id from stock_items
      where organization_id = ${organization} and sellable_id = any(${sellables}::uuid[])
      order by sellable_id for update),
    moved as (
      update stock_items set version = version + 1
      where organization_id = ${organization} and sellable_id = any(array(select sellable_id from locked))),
    back as (
      update stock_levels s set on_hand = s.on_hand + l.quantity, reserved = s.reserved + l.quantity, updated_at = now()
      from lines l
      where s.organization_id = ${organization} and s.sellable_id = any(array(select sellable_id from locked))
        and s.sellable_id = l.sellable_id and s.warehouse_id = l.warehouse_id),
    held as (
      insert into hold_lines as h (organization_id, holder, sellable_id, warehouse_id, quantity)
      select ${organization}, ${orderId}, sellable_id, warehouse_id, quantity from lines
      on conflict (organization_id, holder, sellable_id, warehouse_id)
        do update set quantity = h.quantity + excluded.quantity),
    noted as (
      insert into stock_movements (id, organization_id, entity_id, variant_id, warehouse_id, type, quantity,
        reference_type, reference_id, reason)
      select gen_random_uuid(), ${organization}, s.entity_id, s.variant_id, l.warehouse_id, 'return', l.quantity,
        'order', ${orderId}, 'shipment cancelled'
      from lines l join stock_levels s on s.sellable_id = l.sellable_id and s.warehouse_id = l.warehouse_id
      where s.organization_id = ${organization} and s.sellable_id = any(array(select sellable_id from locked)))
    select 1`
}
