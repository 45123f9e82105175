import type { SqlClient } from "effect/sql"

/**
 * CTEs shared by all releases, over `lines (holder, sellable_id, warehouse_id, quantity)` of one organization: lock the
 * versions in key order, move them, return the units and record a movement per line. Levels are locked after all
 * versions, the order of every stock writer. Rows are picked by `= any(array(...))` even beside a join: a plan made on
 * an empty table would otherwise read and hash every row of the organization.
 */
export const releaseStock = (sql: SqlClient.SqlClient, organization: string, reason: string) =>
  sql`locked as materialized (
      select sellable_id from stock_items
      where organization_id = ${organization} and sellable_id = any(array(select sellable_id from lines))
      order by sellable_id for update),
    moved as (
      update stock_items set version = version + 1
      where organization_id = ${organization} and sellable_id = any(array(select sellable_id from locked))),
    freed as (
      update stock_levels s set reserved = s.reserved - l.quantity, updated_at = now(),
        allow_negative = s.reserved - l.quantity > s.on_hand
      from (select sellable_id, warehouse_id, sum(quantity)::int4 as quantity from lines
        group by sellable_id, warehouse_id) l
      where s.organization_id = ${organization} and s.sellable_id = any(array(select sellable_id from locked))
        and s.sellable_id = l.sellable_id and s.warehouse_id = l.warehouse_id
      returning s.*, l.quantity as units),
    noted as (
      insert into stock_movements (id, organization_id, entity_id, variant_id, warehouse_id, type, quantity,
        reference_type, reference_id, reason)
      select gen_random_uuid(), ${organization}, s.entity_id, s.variant_id, l.warehouse_id, 'release', l.quantity,
        case when l.holder like 'manual:%' then 'order' else 'checkout' end,
        regexp_replace(l.holder, '^manual:', ''), ${reason}
      from lines l join stock_levels s on s.sellable_id = l.sellable_id and s.warehouse_id = l.warehouse_id
      where s.organization_id = ${organization} and s.sellable_id = any(array(select sellable_id from locked)))`
