import type { SqlClient } from "effect/sql"

/**
 * Takes shipped units off the shelf in one statement: what these holders hold of each sellable, `shipped` units of it or
 * everything, from the warehouses that were reserved and in their order. On hand goes down in SQL arithmetic, so that
 * simultaneous shipments add up. A holder with nothing left is fulfilled. The caller has locked the holds.
 */
export const fulfilStatement = <Row extends object>(
  sql: SqlClient.SqlClient,
  organization: string,
  orderId: string,
  holders: ReadonlyArray<string>,
  shipped: ReadonlyMap<string, number> | undefined
) => {
  const everything = shipped === undefined
  return sql<Row>`with open as materialized (
      select l.organization_id, l.holder, l.sellable_id, l.warehouse_id, l.quantity,
        sum(l.quantity) over (partition by l.sellable_id order by w.priority, w.id, l.holder) - l.quantity as earlier
      from holds h join hold_lines l on l.organization_id = h.organization_id and l.holder = h.holder
      join warehouses w on w.id = l.warehouse_id
      where h.organization_id = ${organization} and h.holder = any(${holders}::text[])
        and h.state in ('held', 'sold') and l.quantity > 0),
    lines as materialized (
      select o.organization_id, o.holder, o.sellable_id, o.warehouse_id,
        case when ${everything} then o.quantity
          else least(o.quantity, a.quantity - o.earlier)::int4 end as quantity
      from open o left join unnest(${[...(shipped?.keys() ?? [])]}::uuid[], ${[...(shipped?.values() ?? [])]}::int4[])
        a(sellable_id, quantity) on a.sellable_id = o.sellable_id
      where ${everything} or a.quantity > o.earlier),
    locked as materialized (
      select k.sellable_id from (select distinct sellable_id from lines order by sellable_id) k
      cross join lateral (select 1 from stock_items i
        where i.organization_id = ${organization} and i.sellable_id = k.sellable_id for update) i),
    moved as (
      update stock_items i set version = i.version + 1 from locked k
      where i.organization_id = ${organization} and i.sellable_id = k.sellable_id),
    gone as (
      update stock_levels s set on_hand = s.on_hand - l.quantity, reserved = s.reserved - l.quantity,
        updated_at = now()
      from (select sellable_id, warehouse_id, sum(quantity)::int4 as quantity from lines
        where (select count(*) from locked) > 0 group by sellable_id, warehouse_id) l
      where s.organization_id = ${organization} and s.sellable_id = l.sellable_id
        and s.warehouse_id = l.warehouse_id),
    taken as (
      update hold_lines h set quantity = h.quantity - l.quantity from lines l
      where h.organization_id = l.organization_id and h.holder = l.holder and h.sellable_id = l.sellable_id
        and h.warehouse_id = l.warehouse_id),
    ended as (
      update holds h set state = 'fulfilled', expires_at = null, updated_at = now()
      from (select holder, sum(quantity) as quantity from open group by holder) o
      join (select holder, sum(quantity) as quantity from lines group by holder) l
        on l.holder = o.holder and l.quantity = o.quantity
      where h.organization_id = ${organization} and h.holder = o.holder),
    noted as (
      insert into stock_movements (id, organization_id, entity_id, variant_id, warehouse_id, type, quantity,
        reference_type, reference_id)
      select gen_random_uuid(), l.organization_id, s.entity_id, s.variant_id, l.warehouse_id, 'fulfillment',
        -l.quantity, 'order', ${orderId}
      from lines l join stock_levels s on s.organization_id = l.organization_id
        and s.sellable_id = l.sellable_id and s.warehouse_id = l.warehouse_id)
    select sellable_id, warehouse_id, quantity from lines`
}
