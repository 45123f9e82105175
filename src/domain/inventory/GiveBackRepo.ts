import type { SqlClient } from "effect/sql"

/**
 * The part all releases share, as CTEs over `lines (organization_id, holder, sellable_id, warehouse_id, quantity)`:
 * locks the versions in key order, moves them, gives the units back and records a movement for every line. The levels
 * are touched after all versions are locked, which is the order of every stock writer.
 */
export const giveBack = (sql: SqlClient.SqlClient, reason: string) =>
  sql`locked as materialized (
      select k.organization_id, k.sellable_id
      from (select distinct organization_id, sellable_id from lines order by organization_id, sellable_id) k
      cross join lateral (select 1 from stock_items i
        where i.organization_id = k.organization_id and i.sellable_id = k.sellable_id for update) i),
    moved as (
      update stock_items i set version = i.version + 1 from locked k
      where i.organization_id = k.organization_id and i.sellable_id = k.sellable_id),
    freed as (
      update stock_levels s set reserved = s.reserved - l.quantity, updated_at = now()
      from (select organization_id, sellable_id, warehouse_id, sum(quantity)::int4 as quantity from lines
        where (select count(*) from locked) > 0 group by organization_id, sellable_id, warehouse_id) l
      where s.organization_id = l.organization_id and s.sellable_id = l.sellable_id
        and s.warehouse_id = l.warehouse_id),
    noted as (
      insert into stock_movements (id, organization_id, entity_id, variant_id, warehouse_id, type, quantity,
        reference_type, reference_id, reason)
      select gen_random_uuid(), l.organization_id, s.entity_id, s.variant_id, l.warehouse_id, 'release', l.quantity,
        case when l.holder like 'manual:%' then 'order' else 'checkout' end, l.holder, ${reason}
      from lines l join stock_levels s on s.organization_id = l.organization_id and s.sellable_id = l.sellable_id
        and s.warehouse_id = l.warehouse_id)`
